"""The bracket arm by SciPy from the exported matrices, all dofs kept: what reducer/tests/superelement/bracket.rs expects.

python3 reference.py, in this folder. Bearing seat held, tool of 0.8 kg in the frame that follows the mean of the
mounting face at (0.3, 0, 0).
"""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl


def matrix(file):
    row, column, value = np.loadtxt(file).T
    i, j = row.astype(int) - 1, column.astype(int) - 1
    n = max(i.max(), j.max()) + 1
    upper = sp.coo_matrix((1e3 * value, (i, j)), shape=(n, n)).tocsr()
    return upper + sp.triu(upper, 1).T


def mesh(file):
    nodes, sets, block = {}, {}, None
    for line in open(file):
        line = line.strip()
        if line.startswith("*"):
            word = line.upper().replace(" ", "")
            block = "nodes" if word == "*NODE" else word.split("NSET=")[1] if word.startswith("*NSET") else None
        elif block == "nodes":
            node, *place = line.split(",")
            nodes[int(node)] = 1e-3 * np.array([float(v) for v in place])
        elif block:
            sets.setdefault(block, set()).update(int(v) for v in line.split(",") if v.strip())
    return nodes, sets


def skew(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


stiffness, mass = matrix("bracket_arm.sti"), matrix("bracket_arm.mas")
dofs = [tuple(map(int, line.split("."))) for line in open("bracket_arm.dof")]
place = {dof: i for i, dof in enumerate(dofs)}
nodes, sets = mesh("mesh.inp")
n = len(dofs)

rigid = np.zeros((n, 6))
for (node, c), i in place.items():
    rigid[i, c - 1] = 1
    rigid[i, 3:] = -skew(nodes[node])[c - 1]
whole = rigid.T @ (mass @ rigid)
centre = np.array([whole[1, 5], whole[2, 3], whole[0, 4]]) / whole[0, 0]
print("mass", whole[0, 0])
print("centre", centre)
free = np.sort(sl.eigsh(stiffness, 12, mass, sigma=-1e5, return_eigenvectors=False))
print("free, Hz", np.sqrt(free[6:]) / (2 * np.pi))

# Motion of the frame on the mounting face per motion of the nodes.
face = sorted(sets["SURFACE15"])
middle = sum(nodes[node] for node in face) / len(face)
inverse = np.linalg.inv(sum(-skew(nodes[node] - middle) @ skew(nodes[node] - middle) for node in face))
shift, turn = np.zeros((3, n)), np.zeros((3, n))
for node in face:
    for c in range(3):
        shift[c, place[node, c + 1]] = 1 / len(face)
        turn[:, place[node, c + 1]] = (inverse @ skew(nodes[node] - middle))[:, c]
shift -= skew(np.array([0.3, 0, 0]) - middle) @ turn

inner = np.array([i for i, (node, _) in enumerate(dofs) if node not in sets["SURFACE8"]])
k, m, frame = stiffness[inner][:, inner].tocsc(), mass[inner][:, inner].tocsc(), shift[:, inner]
loaded = m + sp.csc_matrix(0.8 * frame.T @ frame)
held = np.sort(sl.eigsh(k, 6, loaded, sigma=0, return_eigenvectors=False))
print("held with the tool, Hz", np.sqrt(held) / (2 * np.pi))
sag = sl.splu(k).solve(frame[2])
print("stiffness of the face along z", 1 / (frame[2] @ sag))
own = {dofs[i]: j for j, i in enumerate(inner)}
print("node 12 for a unit of it", [sag[own[12, c]] / (frame[2] @ sag) for c in (1, 2, 3)])
print("inertia about the bearing", whole[4, 4] + 0.8 * 0.09)
print("gravity", -9.81 * (whole[0, 0] * centre[0] + 0.8 * 0.3))
