(() => {
  'use strict';
  const NS = 'http://www.w3.org/2000/svg';
  const two = (n) => String(Math.floor(n)).padStart(2, '0');
  const timeText = (s) => s >= 3600 ? Math.floor(s / 3600) + 'h' + two(s % 3600 / 60) + 'm'
    : s >= 60 ? Math.floor(s / 60) + 'm' + two(s % 60) + 's' : Number(s.toPrecision(3)) + ' s';
  const valueText = (v, unit) => unit === '' ? String(Math.round(v))
    : unit === 's' && v < 1 ? Number((1000 * v).toPrecision(2)) + ' ms'
    : Number(v.toPrecision(2)) + (unit === 's' ? ' s' : unit);
  const drawn = (name, attributes, parent) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  const charts = [...document.querySelectorAll('svg[data-time]')].map((svg) => {
    const [left, right, last, step] = svg.dataset.time.split(' ').map(Number);
    const [zero, perUnit, top, bottom] = svg.dataset.value.split(' ').map(Number);
    const clip = drawn('clipPath', { id: 'clip-' + svg.querySelector('title').id }, svg);
    drawn('rect', { x: left, y: top - 3, width: right - left, height: bottom - top + 6 }, clip);
    const lines = [...svg.querySelectorAll('path[data-name]')].map((path) => {
      const clipped = drawn('g', { 'clip-path': 'url(#' + clip.id + ')' }, svg);
      path.before(clipped);
      clipped.append(path);
      path.setAttribute('vector-effect', 'non-scaling-stroke');
      return { path, name: path.dataset.name,
        points: path.getAttribute('d').slice(1).split('L').map((p) => p.split(' ').map(Number)) };
    });
    const readout = document.createElement('p');
    readout.className = 'readout';
    svg.closest('.plot').after(readout);
    return { svg, left, right, last, step, zero, perUnit, top, bottom, lines, readout,
      unit: svg.dataset.unit, plot: svg.closest('.plot'),
      ticks: drawn('g', { class: 'zoomticks' }, svg),
      picked: drawn('rect', { class: 'picked', y: top, height: bottom - top, width: 0 }, svg),
      cursor: drawn('path', { class: 'cursor', d: '' }, svg) };
  });
  if (charts.length === 0) return;
  const { last, step } = charts[0];
  let from = 0;
  let to = last;
  let at = null;

  const pixelOf = (chart, time) =>
    chart.left + (time - from) / (to - from) * (chart.right - chart.left);
  const valueAt = (chart, points, time) => {
    const x = chart.left + time / last * (chart.right - chart.left);
    const next = points.findIndex((point) => point[0] >= x - 0.06);
    if (next < 0 || (next === 0 && points[0][0] > x + 0.06)) return null;
    const [x1, y1] = points[next];
    const [x0, y0] = points[Math.max(0, next - 1)];
    const y = x1 > x0 ? y0 + (y1 - y0) * Math.min(1, (x - x0) / (x1 - x0)) : y1;
    return (chart.zero - y) / chart.perUnit;
  };
  const wordsOf = (chart) => timeText(at) + ': ' + chart.lines.map(({ name, points }) => {
    const value = valueAt(chart, points, at);
    return name + ' ' + (value === null ? '–' : valueText(value, chart.unit));
  }).join(' · ');
  const show = (time) => {
    const snapped = Math.min(last, Math.round(time / step) * step);
    at = time === null ? null : Math.min(to, Math.max(from, snapped));
    for (const chart of charts) {
      const x = at === null ? 0 : pixelOf(chart, at).toFixed(1);
      chart.cursor.setAttribute('d', at === null ? '' : `M${x} ${chart.top}V${chart.bottom}`);
      chart.readout.textContent = at === null ? '' : wordsOf(chart);
    }
  };
  const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400, 172800, 604800];
  const zoom = (first, end) => {
    const least = Math.min(last, 4 * step);
    from = Math.max(0, Math.min(first, last - least));
    to = Math.min(last, Math.max(end, from + least));
    const whole = from === 0 && to === last;
    const scale = last / (to - from);
    const every = STEPS.find((s) => (to - from) / s <= 6) || (to - from) / 4;
    for (const chart of charts) {
      chart.svg.classList.toggle('zoomed', !whole);
      const dx = pixelOf(chart, 0) - scale * chart.left;
      for (const line of chart.lines) {
        line.path.setAttribute('transform', whole ? '' : `matrix(${scale} 0 0 1 ${dx} 0)`);
      }
      chart.ticks.replaceChildren();
      for (let t = Math.ceil(from / every) * every; !whole && t <= to; t += every) {
        const x = pixelOf(chart, t).toFixed(1);
        drawn('path', { class: 'grid', d: `M${x} ${chart.top}V${chart.bottom}` }, chart.ticks);
        drawn('text', { class: 'tick m', x, y: chart.bottom + 16 }, chart.ticks).textContent =
          timeText(t);
      }
    }
    show(at);
    document.getElementById('said').textContent =
      whole ? 'The whole run' : timeText(from) + ' to ' + timeText(to);
  };

  for (const chart of charts) {
    const { svg, plot, picked, left, right } = chart;
    let start = null;
    const xOf = (event) => {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
      return Math.min(right, Math.max(left, x));
    };
    const timeOf = (x) => from + (x - left) / (right - left) * (to - from);
    const pick = (x) => {
      picked.setAttribute('x', Math.min(x, start));
      picked.setAttribute('width', Math.abs(x - start));
    };
    svg.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.pointerType === 'touch') return;
      start = xOf(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener('pointermove', (event) => {
      show(timeOf(xOf(event)));
      if (start !== null) pick(xOf(event));
    });
    svg.addEventListener('pointerup', (event) => {
      if (start === null) return;
      const [a, b] = [start, xOf(event)].sort((p, q) => p - q);
      start = null;
      picked.setAttribute('width', 0);
      if (b - a > 8) zoom(timeOf(a), timeOf(b));
    });
    svg.addEventListener('pointerleave', () => { if (start === null) show(null); });
    svg.addEventListener('dblclick', () => zoom(0, last));
    plot.addEventListener('keydown', (event) => {
      const middle = at ?? (from + to) / 2;
      const half = (to - from) / 2;
      const keys = {
        ArrowLeft: () => show(at === null ? from : at - step),
        ArrowRight: () => show(at === null ? from : at + step),
        Home: () => show(from),
        End: () => show(to),
        '+': () => zoom(middle - half / 2, middle + half / 2),
        '-': () => zoom(middle - half * 2, middle + half * 2),
        Escape: () => { show(null); zoom(0, last); },
      };
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
      if (at !== null && /^(Arrow|Home|End)/.test(event.key)) {
        document.getElementById('said').textContent = wordsOf(chart);
      }
    });
    plot.addEventListener('blur', () => show(null));
  }
})();
