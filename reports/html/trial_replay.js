(() => {
  'use strict';
  const input = JSON.parse(at('trial-input').textContent);
  const engine = new Slicewise();
  const way = () => input.ways[at('trial-variant').value];
  const soon = 200;  // ms, in which a move is answered
  let base;  // of the way: what it gives as it was
  let moves = 0;

  // What the jobs are placed on, as numbers that a slider moves; of a file of nodes there are none.
  const [, flag, sizes] = input.cluster.match(/^(--\w+)=(.*)$/);
  const counted = (size) => {
    if (flag === '--instances') {
      const [name, count = '1'] = size.split('=');
      return { label: `${name}: nodes`, value: Number(count), written: (now) => `${name}=${now}` };
    }
    const [, count, each = ''] = size.match(/^(\d+)(x\d+)?$/) ?? [];
    const label = each ? `nodes of ${each.slice(1)} GPUs` : 'GPUs';
    return count && { label, value: Number(count), written: (now) => `${now}${each}` };
  };
  const counts = sizes.split(',').map(counted).filter(Boolean);
  const shared = /^(time-slicing|mps):(\d+)$/;
  const isCounted = (sharing) => /^(time-slicing|mps)$/.test(sharing);  // with so many jobs on a GPU

  // One control of `kind` with its label; `told` when it was moved.
  function labelled(kind, label, properties, told) {
    const element = document.createElement('label');
    const output = document.createElement('output');
    const control = Object.assign(document.createElement(kind), properties);
    output.textContent = kind === 'input' ? control.value : '';
    element.append(label, ' ', output, control);
    control.addEventListener('input', () => {
      if (kind === 'input') output.textContent = control.value;
      told(control.value);
      follow();
    });
    return element;
  }
  const slider = (label, value, least, told) => labelled('input', label,
    { type: 'range', min: least, max: Math.max(2 * value, least + 7), value }, told);
  function choice(label, value, words, told) {
    const element = labelled('select', label, {}, told);
    element.lastChild.append(...words.map((word) => new Option(word, word, word === value, word === value)));
    return element;
  }

  let now;  // what is moved: sharing, per GPU, queue, placement, and the counts
  function words() {
    const sharing = isCounted(now.sharing) ? `${now.sharing}:${now.tickets}` : now.sharing;
    const cluster = counts.map(({ written }, n) => written(now.counts[n])).join(',');
    return [cluster ? `${flag}=${cluster}` : input.cluster,
      ...(sharing ? [`--sharing=${sharing}`] : []), `--queue=${now.queue}`,
      ...(now.placement ? [`--placement=${now.placement}`] : [])];
  }

  function build() {
    const { sharing = '', queue, placement = '' } = way();
    const some = sharing.match(shared);
    now = { sharing: some ? some[1] : sharing, tickets: Number(some?.[2] ?? 4), queue, placement,
      counts: counts.map(({ value }) => value) };
    const tickets = sharing && slider('jobs on a GPU at once', now.tickets, 2, (to) => { now.tickets = to; });
    const choose = (to) => {
      now.sharing = to;
      tickets.lastChild.disabled = !isCounted(to);
    };
    const ways = [...new Set(['exclusive', 'time-slicing', 'mps',
      ...Object.values(input.ways).map((each) => each.sharing?.replace(shared, '$1')).filter(Boolean)])];
    at('trial-controls').replaceChildren(
      ...counts.map(({ label, value }, n) => slider(label, value, 1, (to) => { now.counts[n] = to; })),
      ...(sharing ? [choice('sharing', now.sharing, ways, choose), tickets] : []),
      choice('queue', queue, input.queues, (to) => { now.queue = to; }),
      ...(placement ? [choice('placement', placement, input.placements, (to) => { now.placement = to; })] : []));
    if (sharing) choose(now.sharing);
  }

  async function replay(asked) {
    const answer = await engine.call(
      ['replay', '-f', input.file, ...input.words, ...asked, '-o', 'json', '-q'], { ...input.files });
    if (!answer.files['']) throw new Error(answer.bug || answer.errors || `exit code ${answer.exitCode}`);
    return answer;
  }

  // Both in one chart, and all columns of the tables: what is too wide scrolls.
  async function show(answer, isWanted, what) {
    const told = await engine.call(['diff', 'before.json', 'after.json'],
      { 'before.json': base.files[''], 'after.json': answer.files[''] });
    if (!isWanted()) return;
    const waiting = told.renderings['waiting.svg'];
    at('trial-charts').replaceChildren(...(waiting ? [figure('Jobs that wait, before and after', waiting)] : []));
    const figures = base.renderings.wide.split('\nNOTES')[0];
    at('trial-changes').textContent = answer === base ? base.renderings.wide
      : `BEFORE\n${figures}\nAFTER\n${answer.renderings.wide}`;
    say(`${answer.exitCode === 0 ? '✓ Every job runs.' : '✗ Not every job runs.'} ${what()}`);
  }

  // The last move counts. A replay under way for an earlier one is given up where that is sooner than its end.
  let working = false;
  let slow = false;
  async function follow() {
    ++moves;
    if (working && slow) engine.stop();
    if (working || !base) return;
    working = true;
    let mine;
    do {
      mine = moves;
      const began = performance.now();
      const patience = setTimeout(say, soon, 'All jobs are replayed ...');
      try {
        const answer = await replay(words());
        slow = performance.now() - began > soon;
        await show(answer, () => mine === moves, () => {
          at('trial').dataset.took = Math.round(performance.now() - began);
          return `All jobs, in ${at('trial').dataset.took} ms.`;
        });
      } catch (problem) {
        if (mine === moves) refuse(problem);
      }
      clearTimeout(patience);
    } while (mine !== moves && base);
    working = false;
  }

  function refuse(problem) {
    at('trial-changes').textContent = problem.message;
    say('This cannot be replayed.');
  }

  async function start() {
    ++moves;
    base = undefined;
    if (working && slow) engine.stop();
    build();
    say('The simulator starts.');
    const [chosen, mine] = [way(), moves];
    const answer = await replay(words());
    if (chosen !== way()) return;
    base = answer;
    if (mine !== moves) follow();
    else await show(base, () => mine === moves, () => 'Ready. Nothing was moved.');
  }

  const begin = () => start().catch((problem) => {
    if (problem.name !== 'AbortError') say(`The simulator does not start: ${problem.message}`);
  });
  at('trial-variant').addEventListener('change', begin);
  at('trial-reset').addEventListener('click', () => {
    build();
    follow();
  });
  at('trial-copy').addEventListener('click', async () => {
    const quoted = ['-f', input.file, ...input.words, ...words()].map((word) => (
      /^[\w.,:=/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
    await copied(`slicewise replay ${quoted.join(' ')}\n`);
    say('Copied: the command with what was moved.');
  });
  begin();
})();
