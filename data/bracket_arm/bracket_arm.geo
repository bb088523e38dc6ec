// A bracket arm: bearing boss, tapered web with a lightening hole, mounting flange. Lengths in mm.
SetFactory("OpenCASCADE");

bore = 12;       // radius of the bearing seat, along y
boss = 22;       // radius of the boss
width = 36;      // of the boss, along y
reach = 300;     // from the bearing to the mounting face, along x
web = 12;        // thickness of the web, along y
size = 40;       // of the elements; a finer mesh changes nothing but the size of the files

// Boss, web and flange, about the plane y = 0.
Cylinder(1) = {0, -width/2, 0, 0, width, 0, boss};
Point(101) = {0, -web/2, -17};
Point(102) = {reach - 10, -web/2, -14};
Point(103) = {reach - 10, -web/2, 14};
Point(104) = {0, -web/2, 17};
Line(101) = {101, 102};
Line(102) = {102, 103};
Line(103) = {103, 104};
Line(104) = {104, 101};
Curve Loop(101) = {101, 102, 103, 104};
Plane Surface(101) = {101};
outline[] = Extrude {0, web, 0} { Surface{101}; };
Box(3) = {reach - 10, -28, -24, 10, 56, 48};
BooleanUnion(4) = { Volume{1}; Delete; }{ Volume{outline[1], 3}; Delete; };
Cylinder(5) = {0, -width, 0, 0, 2*width, 0, bore};
Cylinder(6) = {110, -width, 0, 0, 2*width, 0, 9};
BooleanDifference(7) = { Volume{4}; Delete; }{ Volume{5, 6}; Delete; };

// Elements of the volume alone: CalculiX would take those of a physical surface for membranes. Node sets are
// written for every surface instead (Surface8, Surface15, ...), and these two are the interfaces.
Physical Volume("ARM") = {7};
seat[] = Surface In BoundingBox{-bore - 1, -width, -bore - 1, bore + 1, width, bore + 1};
face[] = Surface In BoundingBox{reach - 0.1, -100, -100, reach + 0.1, 100, 100};
If (#seat[] != 1 || seat[0] != 8 || #face[] != 1 || face[0] != 15)
  Error("the surfaces have other numbers: seat %g, mounting face %g", seat[0], face[0]);
EndIf
Mesh.SaveGroupsOfNodes = -2;

Mesh.MeshSizeMax = size;
Mesh.MeshSizeMin = 0.9*size;
Mesh.MeshSizeFromCurvature = 4;
Mesh.ElementOrder = 2;
Mesh.SecondOrderLinear = 1;
