// Draws the charts of the page when they come into view. The figures are in the page; nothing is fetched.
(function () {
  'use strict';
  document.documentElement.classList.add('script');
  const report = JSON.parse(document.getElementById('report-data').textContent);
  const views = new Map();   // key of a chart -> Promise of its Vega view
  const drawn = new Map();   // key of a chart -> its Vega view
  const hidden = new Map();  // key of a card -> names that are not shown

  // Rows are short in the page: number of the curve, size, median, ratio, verdict and, with repeats, least, most,
  // repeats, least and most ratio within a repeat
  function rowsOf(card) {
    return card.rows.map(function (row) {
      const repeated = row.length > 5;
      const full = [card.curves[row[0]][0], row[1], row[2], repeated ? row[5] : row[2], repeated ? row[6] : row[2],
        repeated ? row[7] : 1, row[3], repeated ? row[8] : null, repeated ? row[9] : null,
        row[4] === null ? null : report.verdicts[row[4]]];
      return Object.fromEntries(report.columns.map((column, index) => [column, full[index]]));
    });
  }

  function hiddenOf(key) {
    if (!hidden.has(key)) hidden.set(key, report.cards[key].hidden.slice());
    return hidden.get(key);
  }

  function specOf(key, width) {
    const chart = report.charts[key], card = report.cards[chart.card];
    const spec = JSON.parse(JSON.stringify(report.specs[chart.spec]));
    spec.datasets = { rows: rowsOf(card) };
    spec.width = width;
    spec.height = chart.height;
    spec.params.forEach(function (param) {
      if (param.name === 'hidden') param.value = hiddenOf(chart.card).slice();
    });
    spec.config = JSON.parse(JSON.stringify(report.theme));
    // colours are variables of the style sheet: a change of theme needs no new drawing, and print is light
    spec.config.range = { category: card.colours.map((name) => 'var(--' + name + ')'), symbol: card.shapes };
    return spec;
  }

  function draw(key) {
    if (!views.has(key)) {
      const element = document.getElementById(key);
      views.set(key, vegaEmbed(element, specOf(key, element.clientWidth), {
        // the interpreter of expressions: the page allows no code that is made at run time
        ast: true, actions: false, renderer: 'svg', mode: 'vega-lite', defaultStyle: false
      }).then(function (result) {
        drawn.set(key, result.view);
        element.style.minHeight = '';
        return result.view;
      }));
    }
    return views.get(key);
  }

  const plots = Array.from(document.querySelectorAll('[data-chart]'));
  const watcher = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (entry.isIntersecting && entry.target.clientWidth > 0) {
        watcher.unobserve(entry.target);
        draw(entry.target.dataset.chart);
      }
    });
  }, { rootMargin: '400px 0px' });
  plots.forEach((plot) => watcher.observe(plot));

  const sizes = new ResizeObserver(function (entries) {
    entries.forEach(function (entry) {
      const view = drawn.get(entry.target.dataset.chart), width = Math.floor(entry.contentRect.width);
      if (view && width > 0 && view.width() !== width) view.width(width).runAsync();
    });
  });
  plots.forEach((plot) => sizes.observe(plot));

  function openAll() {
    const closed = Array.from(document.querySelectorAll('details:not([open])'));
    closed.forEach((one) => { one.open = true; });
    return closed;
  }

  // Draws every chart; a closed part of the page is opened for it, as a chart needs a width
  function drawAll() {
    document.querySelectorAll('details.group').forEach((one) => { one.open = true; });
    return Promise.all(plots.map((plot) => draw(plot.dataset.chart)));
  }

  function chartsOf(key) {
    return Object.keys(report.charts).filter((name) => report.charts[name].card === key && drawn.has(name));
  }

  function toggle(button) {
    const key = button.closest('[data-card]').dataset.card, names = hiddenOf(key), name = button.dataset.series;
    const show = names.includes(name);
    hidden.set(key, show ? names.filter((one) => one !== name) : names.concat([name]));
    button.setAttribute('aria-pressed', String(show));
    chartsOf(key).forEach((chart) => drawn.get(chart).signal('hidden', hidden.get(key).slice()).runAsync());
  }

  document.addEventListener('click', function (event) {
    const button = event.target.closest('button');
    if (!button) return;
    if (button.dataset.series !== undefined) toggle(button);
  });

  let opened = [];
  document.getElementById('print').addEventListener('click', function () {
    drawAll().then(() => window.print());
  });
  window.addEventListener('beforeprint', function () { opened = openAll(); });
  window.addEventListener('afterprint', function () {
    opened.forEach((one) => { one.open = false; });
    opened = [];
  });
  // a link to something in a closed part opens it
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = target; one; one = one.parentElement) {
      if (one.tagName === 'DETAILS') one.open = true;
    }
    if (target) target.scrollIntoView();
  }
  window.addEventListener('hashchange', reveal);
  if (location.hash) reveal();

  window.osuReport = { drawAll: drawAll, draw: draw, views: drawn, count: plots.length };
})();
