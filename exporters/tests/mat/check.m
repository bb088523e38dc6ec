% Evaluates models NAME.mat at the states of NAME_points.mat and compares with what is told there, to 1e-12.
1;

function worst = compare(what, ours, expected, worst)
  expected = expected(:);
  ours = ours(:);
  if numel(ours) ~= numel(expected)
    error('%s: %d numbers, not %d', what, numel(ours), numel(expected));
  end
  if isempty(ours), return; end
  difference = max(abs(ours - expected)) / max([max(abs(expected)), realmin]);
  if ~(difference <= 1e-12)
    disp([ours, expected]);
    error('%s differs by %g', what, difference);
  end
  worst = max(worst, difference);
end

addpath(pwd);
names = argv();
for k = 1:numel(names)
  name = names{k};
  load([name '.mat']);
  load([name '_points.mat']);
  worst = 0;
  for i = 1:numel(points)
    p = points{i};
    r = evaluate_model(model, p.eta, p.rate, p.accel);
    if r.status ~= p.status
      error('%s: status %d, not %d, at point %d', name, r.status, p.status, i);
    end
    if r.status >= 2, continue; end
    worst = compare('force', r.force, p.force, worst);
    still = evaluate_model(model, [p.eta(1:model.layout.sizes(1)); 0 * p.eta(model.layout.sizes(1) + 1:end)]);
    worst = compare('stiffness', still.stiffness', p.stiffness, worst);
    worst = compare('damping', still.damping', p.damping, worst);
    worst = compare('mass', still.mass', p.mass, worst);
    ours = [];
    for o = 1:numel(r.outputs)
      x = r.outputs(o);
      ours = [ours; x.position; x.rotation(:); x.velocity; x.angular_velocity];
    end
    worst = compare('outputs', ours, p.outputs, worst);
  end
  printf('%s: %d states, largest error %.1e\n', name, numel(points), worst);
end
