% SPDX-License-Identifier: 0BSD
function r = evaluate_model(model, eta, rate, accel)
% A reduced model at a state, with nominal parameters, for MATLAB and Octave.
%
%   load four_bar.mat
%   r = evaluate_model(model, eta, rate, accel)
%
% eta holds all coordinates, actuated ones first; rate and accel may be left out (zero).
%   r.status     0 inside the domain, 1 put back to its nearest point, 2 no model there, 4 bent too far; from 2 on nothing
%                else is given
%   r.force      force that produces the accelerations
%   r.mass       mass matrix
%   r.stiffness, r.damping, r.load_map
%   r.outputs    of every output point: name, position, rotation, velocity, angular_velocity
% Indices in the file count from 0.
  n = numel(model.layout.coordinate_name);
  s = model.layout.sizes(1);
  eta = eta(:);
  if nargin < 3 || isempty(rate), rate = zeros(n, 1); end
  if nargin < 4 || isempty(accel), accel = zeros(n, 1); end
  rate = rate(:);
  accel = accel(:);
  if model.format ~= 4 && model.format ~= 5
    error('evaluate_model: format %d, not 4 or 5: export the model again', model.format);
  end
  if numel(eta) ~= n || numel(rate) ~= n || numel(accel) ~= n
    error('evaluate_model: eta, rate and accel have %d entries', n);
  end
  r = struct('status', 2);
  [theta, r.status, box] = locate(model, eta(1:s));
  if box == 0, return; end
  d = stored(model, 'dynamics', theta, box);
  o = stored(model, 'outputs', theta, box);
  if strcmp(model.layout.form, 'direct')
    [force, mass] = direct(d, n, eta, rate, accel);
    stiffness = symmetric(d, 'stiffness', n);
  else
    [force, mass, good] = lagrangian(d, n, s, eta, rate, accel);
    if ~good
      r.status = 4;
      return;
    end
    stiffness = square(d, 'stiffness_factor', n);
  end
  [force, stiffness] = add_gravity(d, model.layout, s, eta, force, stiffness);
  r.damping = square(d, 'damping_factor', n) + symmetric(d, 'damping', n);
  r.force = force + r.damping * rate;
  r.mass = mass;
  r.stiffness = stiffness;
  r.load_map = zeros(numel(model.layout.loaded_name), n);
  for e = find_all(o, 'load_map')
    r.load_map(o.index(e, 9), o.index(e, 5)) = o.value(e);
  end
  r.outputs = struct('name', {}, 'position', {}, 'rotation', {}, 'velocity', {}, 'angular_velocity', {});
  for k = 1:numel(model.layout.output_name)
    r.outputs(k) = output(o, k, model.layout.output_name{k}, s, eta, rate);
  end
end

function [theta, status, box] = locate(model, theta)
% Puts theta into the domain and finds its box; 0 where there is none.
  status = 0;
  box = 0;
  for k = 1:numel(theta)
    low = model.layout.lower(k);
    high = model.layout.upper(k);
    if model.layout.periodic(k) && (theta(k) < low || theta(k) > high)
      theta(k) = min(max(theta(k) - floor((theta(k) - low) / (high - low)) * (high - low), low), high);
    end
    if theta(k) < low || theta(k) > high
      theta(k) = min(max(theta(k), low), high);
      status = 1;
    end
  end
  bounds = model.layout.inequality_bound;
  if ~isempty(bounds)
    parts = [model.layout.inequality_coefficients .* repmat(theta', numel(bounds), 1), -bounds(:)];
    if any(sum(parts, 2) > 8 * eps * sum(abs(parts), 2))
      status = 2;
      return;
    end
  end
  node = 1;
  while model.tree.kind(node) == 0
    if theta(model.tree.axis(node) + 1) < model.tree.at(node)
      node = model.tree.low(node) + 1;
    else
      node = model.tree.high(node) + 1;
    end
  end
  if model.tree.kind(node) == 1
    box = model.tree.low(node) + 1;
  else
    status = 2;
  end
end

function t = stored(model, table, theta, box)
% Quantities, indices from 1, values and slopes by theta of a table and of the constants.
  first = model.boxes.([table '_first']);
  rows = (first(box) + 1):first(box + 1);
  degrees = model.boxes.([table '_degrees'])(rows, :);
  s = numel(theta);
  basis = ones(numel(rows), s);
  slopes = zeros(numel(rows), s);
  for k = 1:s
    [f, df] = functions(model, table, theta(k), k, box, max([degrees(:, k); 1]));
    basis(:, k) = f(degrees(:, k) + 1);
    slopes(:, k) = df(degrees(:, k) + 1);
  end
  t.quantity = [model.components.([table '_quantity'])(:); model.components.constant_quantity(:)];
  t.index = [model.components.([table '_index']); model.components.constant_index] + 1;
  constants = model.components.constant_value(:);
  if isempty(model.components.([table '_quantity']))
    t.value = constants;
    t.slope = zeros(numel(constants), s);
    return;
  end
  coefficients = model.boxes.([table '_coefficients'])(rows, :)';
  t.value = [coefficients * prod(basis, 2); constants];
  t.slope = zeros(numel(t.value), s);
  for k = 1:s
    one = basis;
    one(:, k) = slopes(:, k);
    t.slope(1:size(coefficients, 1), k) = coefficients * prod(one, 2);
  end
  if strcmp(table, 'dynamics') && isfield(model.components, 'combined_end')
    t = with_combined(model.components, t, size(coefficients, 1));
  end
end

function t = with_combined(c, t, columns)
% Adds what is a combination of the first columns.
  ends = c.combined_end(:);
  rows = zeros(ends(end), 1);
  first = 1;
  for i = 1:numel(ends)
    rows(first:ends(i)) = i;
    first = ends(i) + 1;
  end
  factors = sparse(rows, c.combined_column(:) + 1, c.combined_factor(:), numel(ends), columns);
  t.quantity = [t.quantity; c.combined_quantity(:)];
  t.index = [t.index; c.combined_index + 1];
  t.value = [t.value; factors * t.value(1:columns)];
  t.slope = [t.slope; factors * t.slope(1:columns, :)];
end

function [f, df] = functions(model, table, theta, k, box, highest)
% Functions of one theta and their derivatives, by number from 0.
  f = ones(highest + 1, 1);
  df = zeros(highest + 1, 1);
  if strcmp(model.layout.functions{k}, 'waves')
    part = 1;
    if strcmp(table, 'outputs'), part = 0.5; end
    for d = 1:highest
      m = ceil(d / 2) * part;
      if mod(d, 2) == 1
        f(d + 1) = cos(m * theta);
        df(d + 1) = -m * sin(m * theta);
      else
        f(d + 1) = sin(m * theta);
        df(d + 1) = m * cos(m * theta);
      end
    end
  else
    low = model.boxes.lower(box, k);
    high = model.boxes.upper(box, k);
    grow = 2 / (high - low);
    xi = (2 * theta - low - high) / (high - low);
    f(2) = xi;
    df(2) = grow;
    for d = 2:highest
      f(d + 1) = 2 * xi * f(d) - f(d - 1);
      df(d + 1) = 2 * (grow * f(d) + xi * df(d)) - df(d - 1);
    end
  end
end

function list = find_all(t, quantity)
  list = reshape(find(strcmp(t.quantity, quantity)), 1, []);
end

function x = share(d, e)
  x = 1 - 0.5 * (d == e);
end

function a = symmetric(t, quantity, n)
  a = zeros(n);
  for e = find_all(t, quantity)
    a(t.index(e, 1), t.index(e, 2)) = t.value(e);
    a(t.index(e, 2), t.index(e, 1)) = t.value(e);
  end
end

function a = square(t, quantity, n)
  l = zeros(n);
  for e = find_all(t, quantity)
    l(t.index(e, 1), t.index(e, 2)) = t.value(e);
  end
  a = l * l';
end

function [force, mass] = direct(t, n, eta, rate, accel)
  mass = symmetric(t, 'mass', n);
  force = mass * accel + symmetric(t, 'stiffness', n) * eta;
  for e = find_all(t, 'force')
    force(t.index(e, 1)) = force(t.index(e, 1)) - t.value(e);
  end
  for e = find_all(t, 'gyroscopic')
    j = t.index(e, 3);
    k = t.index(e, 4);
    force(t.index(e, 1)) = force(t.index(e, 1)) + 2 * share(j, k) * t.value(e) * rate(j) * rate(k);
  end
  for e = find_all(t, 'mass_curvature')
    i = t.index(e, 1);
    j = t.index(e, 2);
    a = t.index(e, 3);
    b = t.index(e, 4);
    product = t.value(e) * share(i, j) * share(a, b) * rate(i) * rate(j);
    force(a) = force(a) - product * eta(b);
    force(b) = force(b) - product * eta(a);
  end
end

function [force, mass, good] = lagrangian(t, n, s, eta, rate, accel)
% T = |U' nu|^2 / 2 with nu = B' rate; forces are derivatives of the energies.
  along = t.slope * rate(1:s);
  u = zeros(n);
  du = zeros(n);
  b = eye(n);
  db = zeros(n);
  weight = zeros(size(t.value));
  for e = find_all(t, 'mass_factor')
    u(t.index(e, 1), t.index(e, 2)) = t.value(e);
    du(t.index(e, 1), t.index(e, 2)) = along(e);
  end
  for e = find_all(t, 'mass_factor_slope')
    i = t.index(e, 1);
    j = t.index(e, 2);
    k = t.index(e, 5);
    u(i, j) = u(i, j) + t.value(e) * eta(k);
    du(i, j) = du(i, j) + along(e) * eta(k) + t.value(e) * rate(k);
  end
  scales = find_all(t, 'rate_scale');
  for e = scales
    i = t.index(e, 1);
    j = t.index(e, 2);
    c = t.index(e, 3);
    d = t.index(e, 4);
    b(i, j) = b(i, j) + share(c, d) * t.value(e) * eta(c) * eta(d);
    db(i, j) = db(i, j) + share(c, d) * (along(e) * eta(c) * eta(d) ...
      + t.value(e) * (rate(c) * eta(d) + eta(c) * rate(d)));
  end
  good = isempty(scales) || all(diag(b) >= 0.1);
  nu = b' * rate;
  p = u' * nu;
  dp = du' * nu + u' * (b' * accel + db' * rate);
  momentum = u * p;
  force = db * momentum + b * (du * p + u * dp);
  mass = (b * u) * (b * u)';
  for e = scales
    c = t.index(e, 3);
    d = t.index(e, 4);
    product = share(c, d) * rate(t.index(e, 1)) * momentum(t.index(e, 2));
    force(c) = force(c) - t.value(e) * eta(d) * product;
    force(d) = force(d) - t.value(e) * eta(c) * product;
    weight(e) = -eta(c) * eta(d) * product;
  end
  for e = find_all(t, 'mass_factor')
    weight(e) = -nu(t.index(e, 1)) * p(t.index(e, 2));
  end
  for e = find_all(t, 'mass_factor_slope')
    k = t.index(e, 5);
    product = nu(t.index(e, 1)) * p(t.index(e, 2));
    force(k) = force(k) - t.value(e) * product;
    weight(e) = -eta(k) * product;
  end
  for e = find_all(t, 'mass')
    i = t.index(e, 1);
    j = t.index(e, 2);
    mass(i, j) = t.value(e);
    mass(j, i) = t.value(e);
    force(i) = force(i) + t.value(e) * accel(j) + along(e) * rate(j);
    if i ~= j
      force(j) = force(j) + t.value(e) * accel(i) + along(e) * rate(i);
    end
    weight(e) = -share(i, j) * rate(i) * rate(j);
  end
  factor = find_all(t, 'stiffness_factor');
  strain = zeros(n, 1);
  for e = factor
    strain(t.index(e, 2)) = strain(t.index(e, 2)) + t.value(e) * eta(t.index(e, 1));
  end
  for e = factor
    force(t.index(e, 1)) = force(t.index(e, 1)) + t.value(e) * strain(t.index(e, 2));
    weight(e) = eta(t.index(e, 1)) * strain(t.index(e, 2));
  end
  for e = find_all(t, 'force')
    force(t.index(e, 1)) = force(t.index(e, 1)) - t.value(e);
    weight(e) = -eta(t.index(e, 1));
  end
  weight(find_all(t, 'potential')) = 1;
  force(1:s) = force(1:s) + t.slope' * weight;
end

function [force, stiffness] = add_gravity(t, layout, s, eta, force, stiffness)
% Where gravity is stored per inertial axis; the direct form stores all forces themselves.
  gravity = layout.gravity;
  weight = zeros(size(t.value));
  for e = find_all(t, 'gravity_potential')
    weight(e) = gravity(t.index(e, 7));
  end
  for e = find_all(t, 'gravity_force')
    g = gravity(t.index(e, 7));
    i = t.index(e, 1);
    force(i) = force(i) - g * t.value(e);
    weight(e) = -g * eta(i);
  end
  for e = find_all(t, 'gravity_stiffness')
    i = t.index(e, 1);
    j = t.index(e, 2);
    part = gravity(t.index(e, 7)) * share(i, j);
    force(i) = force(i) + part * t.value(e) * eta(j);
    force(j) = force(j) + part * t.value(e) * eta(i);
    stiffness(i, j) = stiffness(i, j) + part * t.value(e);
    stiffness(j, i) = stiffness(j, i) + part * t.value(e);
    weight(e) = part * eta(i) * eta(j);
  end
  if strcmp(layout.form, 'lagrangian')
    force(1:s) = force(1:s) + t.slope' * weight;
  end
end

function x = output(t, number, name, s, eta, rate)
  x = struct('name', name, 'position', zeros(3, 1), 'rotation', eye(3), 'velocity', zeros(3, 1), ...
    'angular_velocity', zeros(3, 1));
  along = t.slope * rate(1:s);
  q = zeros(4, 1);
  dq = zeros(4, 1);
  turn = zeros(3, 1);
  dturn = zeros(3, 1);
  for e = reshape(find(t.index(:, 6) == number), 1, [])
    a = t.index(e, 7);
    switch t.quantity{e}
      case 'position'
        x.position(a) = x.position(a) + t.value(e);
        x.velocity(a) = x.velocity(a) + along(e);
      case 'quaternion'
        q(t.index(e, 8)) = t.value(e);
        dq(t.index(e, 8)) = along(e);
      case 'amplitude'
        i = t.index(e, 1);
        k = t.index(e, 5);
        moved = t.value(e) * eta(k);
        speed = along(e) * eta(k) + t.value(e) * rate(k);
        if i <= 3
          x.position(i) = x.position(i) + moved;
          x.velocity(i) = x.velocity(i) + speed;
        else
          turn(i - 3) = turn(i - 3) + moved;
          dturn(i - 3) = dturn(i - 3) + speed;
        end
      case 'position_curvature'
        c = t.index(e, 3);
        d = t.index(e, 4);
        x.position(a) = x.position(a) + share(c, d) * t.value(e) * eta(c) * eta(d);
        x.velocity(a) = x.velocity(a) + share(c, d) * (along(e) * eta(c) * eta(d) ...
          + t.value(e) * (rate(c) * eta(d) + eta(c) * rate(d)));
    end
  end
  spin = zeros(3, 1);
  if any(q)
    v = q(2:4);
    x.rotation = ((q(1)^2 - v' * v) * eye(3) + 2 * (v * v') + 2 * q(1) * skew(v)) / (q' * q);
    spin = 2 * (q(1) * dq(2:4) - dq(1) * v - skew(dq(2:4)) * v) / (q' * q);
  end
  [b, c] = rotation_coefficients(turn' * turn);
  once = skew(turn);
  full = eye(3) + (1 - c * (turn' * turn)) * once + b * once^2;
  x.rotation = full * x.rotation;
  x.angular_velocity = full * spin + (eye(3) + b * once + c * once^2) * dturn;
end

function [b, c] = rotation_coefficients(square)
% (1 - cos a)/a^2 and (a - sin a)/a^3 from a^2.
  if square > 1
    a = sqrt(square);
    b = (1 - cos(a)) / square;
    c = (a - sin(a)) / (square * a);
  else
    b = 1;
    c = 1;
    for k = 14:-1:0
      b = 1 - square / ((2 * k + 3) * (2 * k + 4)) * b;
      c = 1 - square / ((2 * k + 4) * (2 * k + 5)) * c;
    end
    b = b / 2;
    c = c / 6;
  end
end

function m = skew(v)
  m = [0, -v(3), v(2); v(3), 0, -v(1); -v(2), v(1), 0];
end
