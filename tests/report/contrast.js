// Every piece of text that is seen, whose contrast with what lies behind it is below WCAG AA.
(() => {
  const parts = (colour) => {
    const found = colour.match(/[\d.]+/g).map(Number);
    if (colour.startsWith("color(srgb")) return [...found.slice(0, 3).map((x) => 255 * x), found[3] ?? 1];
    return [...found.slice(0, 3), found[3] ?? 1];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((x) => x / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * under[i]);
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = parts(getComputedStyle(element).backgroundColor);
    return own[3] >= 1 ? own.slice(0, 3) : over(own, behind(element.parentElement));
  };
  const failures = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || element.closest("style, title, desc") || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    if (style.visibility === "hidden") continue;
    const svg = element.closest("svg");
    const ink = parts(svg ? style.fill : style.color);
    const opacity = Number(style.opacity) * Number(svg ? style.fillOpacity : 1);
    const ground = behind(svg ? svg.parentElement : element);
    const colour = over([...ink.slice(0, 3), ink[3] * opacity], ground);
    const [high, low] = [light(colour), light(ground)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    seen += 1;
    if ((high + 0.05) / (low + 0.05) < (large ? 3 : 4.5)) failures.push([text.slice(0, 60), ((high + 0.05) / (low + 0.05)).toFixed(2)]);
  }
  return { seen, failures };
})()
