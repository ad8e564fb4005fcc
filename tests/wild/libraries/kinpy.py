"""kinpy: kinematics of chains of robots."""

import kinpy
from kinpy.transform import Transform

URDF = """<robot name="arm"><link name="base"/><link name="upper"/><link name="lower"/><link name="hand"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3" rpy="0 0 0"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0.1 0 0.4" rpy="0.2 0 0"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="j3" type="fixed"><parent link="lower"/><child link="hand"/><origin xyz="0 0.2 0.3" rpy="0 0 0.1"/></joint>
</robot>"""
CHAIN = kinpy.build_serial_chain_from_urdf(URDF, "hand")


def forward(theta=(0.3, 0.7)):
    """kinpy.SerialChain.forward_kinematics"""
    return CHAIN.forward_kinematics(theta).pos


def rotation(theta=(0.3, 0.7)):
    """kinpy.Transform.matrix"""
    return CHAIN.forward_kinematics(theta).matrix()


def jacobian(theta=(0.3, 0.7)):
    """kinpy.SerialChain.jacobian"""
    return CHAIN.jacobian(theta)


def composed(rot=(0.1, 0.2, 0.3), pos=(1.0, 2.0, 3.0)):
    """kinpy.Transform.__mul__"""
    return (Transform(rot, pos) * Transform([0.3, 0.1, 0.2], [0.1, 0.2, 0.3])).matrix()
