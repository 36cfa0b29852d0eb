(() => {
  'use strict';
  const input = JSON.parse(at('trial-input').textContent);
  const [quick, thorough] = [0, 1].map(() => new Slicewise({ rendersAll: false }));
  const variant = () => input.variants[at('trial-variant').value];
  const aim = 110;  // ms, in which a move is answered
  const most = 140;  // what takes longer is shortened: it shall not be 200, and the machine may be busy
  let base;  // of the variant: what it gives as it was
  let seconds;  // of the duration, that are simulated while something is moved; undefined: all
  let bases;  // what it gives as it was in so many seconds
  let moves = 0;

  const written = (control, value = control.now) => Number(Number(value).toPrecision(6)) + control.unit;
  // What a control moves: itself, or several that keep their proportions.
  const parts = (control) => control.together?.map(({ path, value }) =>
    ({ path, value: value * control.now / control.value })) ?? [{ path: control.path }];
  // Prices that were given in a file are as they are.
  const controls = () => variant().controls
    .filter(({ price }) => !price || !input.words.includes('--prices'));
  const moved = () => controls().filter((control) => control.now !== control.value);

  // The words that put into place what was moved, and the file of prices among them.
  function changes() {
    const words = moved().filter(({ price }) => !price)
      .flatMap((control) => parts(control)
        .flatMap(({ path, value }) => ['--set', `${path}=${written(control, value)}`]));
    const prices = moved().filter(({ price }) => price)
      .map(({ price, now }) => ({ ...price, usdPerHour: Number(now), source: 'moved in the page' }));
    if (!prices.length) return { words, files: {} };
    return {
      words: [...words, '--prices', 'moved-prices.json'],
      files: { 'moved-prices.json': JSON.stringify({ date: input.priceDate, prices }) },
    };
  }

  const nothing = { words: [], files: {} };
  const failed = (answer) => answer.bug || answer.errors || `exit code ${answer.exitCode}`;

  // `verb` of the variant's scenario with what was moved.
  const ask = (engine, verb, { words, files }, rest) => engine.call(
    [verb, '-f', input.file, ...input.words, ...words, ...rest, '-q'],
    { ...input.files, [input.file]: variant().text, ...files });

  async function run(engine, change, replications, part = undefined) {
    const answer = await ask(engine, 'run', change, [...input.runWords, '--replications',
      String(replications), ...(part ? ['--set', `duration=${part}s`] : []), '-o', 'json']);
    if (!answer.files['']) throw new Error(failed(answer));
    return answer;
  }

  // An answer took so long: of what takes too long a part is simulated until the move is over.
  function shorten(took) {
    const { seconds: whole, leastSeconds } = variant();
    if (took <= most || !whole) return;
    const round = whole > 3600 ? 60 : 1;
    seconds = round * Math.ceil(Math.max(leastSeconds, (seconds ?? whole) * aim / took) / round);
  }

  async function baseOf(part) {
    if (!part) return base;
    if (!bases.has(part)) bases.set(part, await run(quick, nothing, 1, part));
    return bases.get(part);
  }

  const span = (all) => [[3600, 'h'], [60, 'm'], [1, 's']].reduce(({ left, text }, [unit, name]) => ({
    left: left % unit, text: text + (left >= unit ? `${Math.floor(left / unit)}${name}` : '') }),
  { left: Math.round(all), text: '' }).text;

  // Both points in one scatter, and the latencies before and after, side by side.
  function draw(before, answer, scatter) {
    const latencies = Object.keys(answer.renderings)
      .filter((name) => /^latency-\d+\.svg$/.test(name)).sort()
      .flatMap((name) => [['before', before], ['after', answer]]
        .filter(([, from]) => from.renderings[name])
        .map(([when, from]) => figure(`Latency, ${when}`, from.renderings[name], when === 'before')));
    at('trial-charts').replaceChildren(
      ...(scatter ? [figure('Cost against what it does, before and after', scatter)] : []), ...latencies);
  }

  function verdict(answer) {
    const { stands, reasons } = JSON.parse(answer.files['']).variants[0].verdict;
    return stands ? '✓ It stands.' : `✗ ${reasons.map(({ text }) => text).join('; ')}.`;
  }

  const compare = (before, after) => quick.call(['diff', 'before.json', 'after.json'],
    { 'before.json': before.files[''], 'after.json': after.files[''] });

  // Unless nobody waits for it any more when it is there; `what`: words behind the verdict.
  async function show(before, answer, isWanted, what) {
    const told = await compare(before, answer);
    if (!isWanted()) return;
    draw(before, answer, told.renderings['difference.svg']);
    at('trial-changes').textContent = told.files[''] || failed(told);
    say(`${verdict(answer)} ${what()}`);
  }

  function refuse(problem, mine) {
    if (mine !== moves || problem.name === 'AbortError') return;
    at('trial-changes').textContent = problem.message;
    say('This cannot be simulated.');
  }

  // One replication at once, of the last move; all of them when nothing is moved any more.
  let working = false;
  let asked;  // when the last move was made
  async function follow() {
    ++moves;
    asked = performance.now();
    thorough.stop();
    if (working || !base) return;
    working = true;
    let mine;
    let change;
    do {
      mine = moves;
      change = changes();
      const [moved, held] = [asked, base];
      if (!held) break;  // another variant begins
      try {
        const part = seconds;
        const before = await baseOf(part);
        const began = performance.now();
        const answer = await run(quick, change, 1, part);
        // Also of a place that has been left: who goes on moving sees what it does.
        await show(before, answer, () => base === held, () => {
          const took = Math.round(performance.now() - moved);
          at('trial').dataset.took = took;
          const of = part ? `The first ${span(part)} of ${span(variant().seconds)}, before and after, of one`
            : 'One';
          return `${of} of ${variant().replications} replications, in ${took} ms; all of them follow.`;
        });
        if (base !== held) continue;
        shorten(performance.now() - began);
        await baseOf(seconds);  // for the next move
      } catch (problem) {
        refuse(problem, mine);
      }
    } while (mine !== moves);
    working = false;
    if (!base) return;
    try {
      await show(base, await run(thorough, change, variant().replications), () => mine === moves,
        () => 'All replications: as certain as the figures above.');
    } catch (problem) {
      refuse(problem, mine);
    }
  }

  function build() {
    at('trial-controls').replaceChildren(...controls().map((control, index) => {
      control.now = control.value;
      const label = document.createElement('label');
      const output = document.createElement('output');
      const slider = document.createElement('input');
      Object.assign(slider, { type: 'range', id: `trial-${index}`, min: control.least,
        max: control.most, step: control.step, value: control.value });
      output.textContent = written(control);
      label.append(control.label, ' ', output, slider);
      slider.addEventListener('input', () => {
        const value = Number(slider.value);
        control.now = Math.abs(value - control.value) < control.step / 2 ? control.value : value;
        output.textContent = written(control);
        follow();
      });
      return label;
    }));
  }

  async function start() {
    const mine = ++moves;
    base = undefined;
    seconds = undefined;
    bases = new Map();
    build();
    say('The simulator starts.');
    await quick.call(['version']);
    const chosen = variant();
    const answer = await run(quick, nothing, chosen.replications);
    // Before anything is moved: what moves are held against, so short that they are answered in time. Code gets
    // faster as it runs, so that it runs a few times.
    for (let n = 0, part; (n < 4 || part !== seconds) && chosen === variant(); ++n) {
      part = seconds;
      await baseOf(part);
      const began = performance.now();
      const tried = await run(quick, nothing, 1, part);
      await compare(tried, tried);
      shorten(performance.now() - began);
    }
    if (chosen !== variant()) return;
    base = answer;
    if (mine !== moves) {
      follow();
      return;
    }
    draw(base, base, (await compare(base, base)).renderings['difference.svg']);
    at('trial-changes').textContent = 'Nothing was moved.';
    say(`Ready. ${verdict(base)}`);
  }

  const begin = () => start().catch((problem) => say(`The simulator does not start: ${problem.message}`));
  at('trial-variant').addEventListener('change', begin);
  at('trial-reset').addEventListener('click', () => {
    build();
    follow();
  });
  at('trial-copy').addEventListener('click', async () => {
    const told = await ask(quick, 'export', changes(), ['--to', 'scenario']);
    await copied(told.files[''] || failed(told));
    say('Copied: the scenario with what was moved.');
  });
  begin();
})();
