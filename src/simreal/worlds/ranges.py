"""Which axes the built-in profiles randomize, and how far."""

from __future__ import annotations

from simreal.worlds.variation import Axis, Integers, LogUniform, Uniform

#: Sources: grasping and insertion ranges of published sim-to-real systems as gathered in the
#: design notes (camera 25-50 mm and up to 10 degrees, field of view 2 degrees, light direction 20
#: degrees, mass x0.8-1.2 and wide x0.5-1.5, joint offset 0.05 rad, latency 0-3 steps).
DYNAMICS_AXES = (
    Axis("object_size", "scale", Uniform(0.88, 1.12)),
    Axis("object_mass", "scale", Uniform(0.5, 1.5)),
    Axis("object_inertia", "scale", Uniform(0.8, 1.2)),
    Axis("object_friction", "set", LogUniform(0.4, 1.2)),
    Axis("gripper_friction", "set", LogUniform(0.6, 1.4)),
    Axis("table_friction", "set", LogUniform(0.3, 1.0)),
    Axis("object_position", "add", Uniform(-0.005, 0.005)),
    Axis("object_yaw", "add", Uniform(-0.3, 0.3)),
    Axis("table_height", "add", Uniform(-0.006, 0.006)),
    Axis("table_tilt", "add", Uniform(-1.0, 1.0)),
    Axis("actuator_gain", "scale", Uniform(0.8, 1.25)),
    Axis("joint_damping", "scale", Uniform(0.8, 1.3)),
    Axis("joint_friction", "scale", Uniform(0.5, 1.5)),
    Axis("joint_offset", "add", Uniform(-2.0, 2.0)),
    Axis("action_latency", "set", Uniform(0.0, 0.06)),
    Axis("observation_delay", "set", Integers(0, 1)),
    Axis("encoder_noise", "set", Uniform(0.0, 0.2)),
)
VISUAL_AXES = (
    Axis("scene_camera_position", "add", Uniform(-0.025, 0.025)),
    Axis("scene_camera_rotation", "add", Uniform(-4.0, 4.0)),
    Axis("wrist_camera_position", "add", Uniform(-0.005, 0.005)),
    Axis("wrist_camera_rotation", "add", Uniform(-3.0, 3.0)),
    Axis("camera_fov", "add", Uniform(-2.0, 2.0)),
    Axis("exposure", "add", Uniform(-0.6, 0.6)),
    Axis("colour_cast", "scale", Uniform(0.88, 1.12)),
    Axis("image_noise", "set", Uniform(0.0, 0.03)),
    Axis("light_count", "set", Integers(1, 3)),
    Axis("light_direction", "add", Uniform(-25.0, 25.0)),
    Axis("light_intensity", "scale", Uniform(0.5, 1.6)),
    Axis("light_colour", "scale", Uniform(0.85, 1.15)),
    Axis("light_ambient", "scale", Uniform(0.5, 2.0)),
    Axis("light_shadow", "set", Integers(0, 1)),
    Axis("table_colour", "set", Uniform(0.1, 0.95)),
    Axis("background_colour", "set", Uniform(0.1, 0.95)),
    Axis("object_colour", "add", Uniform(-0.1, 0.1)),
    Axis("robot_colour", "add", Uniform(-0.12, 0.12)),
    Axis("table_texture", "set", Integers(0, 24)),
    Axis("background_texture", "set", Integers(0, 24)),
    Axis("texture_repeat", "scale", Uniform(0.5, 4.0)),
    Axis("clutter_count", "set", Integers(0, 5)),
    Axis("clutter_size", "scale", Uniform(0.5, 1.8)),
    Axis("clutter_colour", "set", Uniform(0.0, 1.0)),
    Axis("clutter_place", "set", Uniform(0.0, 1.0)),
)

#: Sources: peg insertion as published (friction x0.33-1.67, here about 0.3, gains x0.75-1.5, force
#: noise to 1 N, dead zones to 5 N). The arm's joints of 0.05 Nm make a dead zone of about 0.1 N at
#: the tool: up to 1.1 N here, as on an arm that is controlled by its measured force. Stiffness of
#: grasp and fixture, sensor bias after taring, drift and filters are assumed.
DYNAMICS_PEG_AXES = (
    Axis("hole_friction", "set", LogUniform(0.1, 0.5)),
    Axis("clearance", "add", Uniform(-0.00002, 0.00002)),
    Axis("hole_position", "add", Uniform(-0.002, 0.002)),
    Axis("grasp_stiffness", "scale", LogUniform(0.6, 1.6)),
    Axis("fixture_stiffness", "scale", LogUniform(0.3, 3.0)),
    Axis("grip", "scale", Uniform(0.8, 1.3)),
    Axis("impedance_stiffness", "scale", LogUniform(0.75, 1.5)),
    Axis("impedance_damping", "scale", LogUniform(0.75, 1.5)),
    Axis("target_smoothing", "scale", LogUniform(0.5, 2.0)),
    Axis("joint_friction", "scale", Uniform(0.0, 10.0)),
    Axis("tool_offset", "add", Uniform(-1.0, 1.0)),
    Axis("action_latency", "set", Uniform(0.0, 0.04)),
    Axis("observation_delay", "set", Integers(0, 1)),
    Axis("encoder_noise", "set", Uniform(0.0, 0.05)),
    Axis("wrench_noise", "set", Uniform(0.0, 1.0)),
    Axis("wrench_bias", "add", Uniform(-0.5, 0.5)),
    Axis("wrench_drift", "add", Uniform(-0.05, 0.05)),
    Axis("wrench_cutoff", "set", Uniform(50.0, 200.0)),
)
VISUAL_PEG_AXES = (*VISUAL_AXES, Axis("hole_colour", "add", Uniform(-0.15, 0.15)))
