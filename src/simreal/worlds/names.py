"""Names that every scene uses, so that randomization terms, rigs and judges find their way."""

OBJECT = "object"
TABLE = "table"
TABLE_PLANE = "table_plane"
#: Cameras of every scene: one beside the table, one that the robot carries.
CAMERAS = ("scene", "wrist")
