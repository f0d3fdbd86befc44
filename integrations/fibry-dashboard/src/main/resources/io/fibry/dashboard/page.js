'use strict';
// Names of actors and texts of messages are not trusted: all of them are set as text, never as HTML.

const HISTORY = 180; // snapshots in a curve, one a second
const byId = id => document.getElementById(id);
const whole = new Intl.NumberFormat('en');
const tenths = new Intl.NumberFormat('en', {minimumFractionDigits: 1, maximumFractionDigits: 1});
const number = value => whole.format(value);
const rate = value => value === null ? '–' : value >= 1000 ? whole.format(Math.round(value)) : tenths.format(value);

function made(kind, className = '', text = '') {
  const element = document.createElement(kind);
  element.className = className;
  element.textContent = text;
  return element;
}

/** Changes the element only if its text or class differs. */
function set(element, text, className) {
  if (element.textContent !== text) element.textContent = text;
  if (className !== undefined && element.className !== className) element.className = className;
}

// ---- theme: from the system, or from ?theme=light or ?theme=dark

function showTheme(theme) {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  byId('theme').value = document.documentElement.dataset.theme ?? '';
}

byId('theme').addEventListener('change', event => {
  const address = new URL(location);
  if (event.target.value) address.searchParams.set('theme', event.target.value);
  else address.searchParams.delete('theme');
  history.replaceState(null, '', address);
  showTheme(event.target.value);
});
showTheme(new URLSearchParams(location.search).get('theme'));

// ---- totals, each with a curve of its last minutes

const sum = counts => Object.values(counts).reduce((all, one) => all + one, 0);
const cards = [
  {title: 'Sent', value: f => f.sent, rate: f => f.perSecond.sent},
  {title: 'Handled', value: f => f.handled, rate: f => f.perSecond.handled},
  {title: 'Being handled', value: f => f.handling},
  {title: 'Waiting', value: f => f.waiting},
  {title: 'Unhandled', value: f => sum(f.unhandled), rate: f => f.perSecond.unhandled},
];

for (const card of cards) {
  const box = made('div', 'card');
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${HISTORY - 1} 34`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  for (const part of ['area', 'curve']) {
    card[part] = document.createElementNS(svg.namespaceURI, 'path');
    card[part].setAttribute('class', part);
    svg.append(card[part]);
  }
  card.history = [];
  card.number = made('p', 'value', '–');
  card.perSecond = made('p', 'rate muted', card.rate ? '– per second' : 'in mailboxes');
  card.most = made('p', 'most muted');
  box.append(made('h2', '', card.title), card.perSecond, card.number, card.most, svg);
  byId('cards').append(box);
}

function showCard(card, statistics) {
  set(card.number, number(card.value(statistics)));
  const now = card.rate ? card.rate(statistics) : card.value(statistics);
  if (card.rate) set(card.perSecond, rate(now) + ' per second');
  if (now === null) return;
  card.history.push(now);
  if (card.history.length > HISTORY) card.history.shift();
  const most = Math.max(...card.history);
  set(card.most, 'at most ' + (card.rate ? rate(most) : number(most)));
  const left = HISTORY - card.history.length;
  const points = card.history.map((y, i) => `${left + i},${(32 - 30 * y / (most || 1)).toFixed(1)}`);
  card.curve.setAttribute('d', 'M' + points.join('L'));
  card.area.setAttribute('d', `M${left},34L${points.join('L')}L${HISTORY - 1},34Z`);
}

// ---- actors

function duration(millis) {
  if (millis === 0) return '–';
  if (millis < 1000) return millis + ' ms';
  if (millis < 60000) return tenths.format(millis / 1000) + ' s';
  return millis < 3600000 ? Math.floor(millis / 60000) + ' min' : Math.floor(millis / 3600000) + ' h';
}

const isIdle = doing => doing === 'idle' || doing.startsWith('0 of ');
const isIll = doing => doing.startsWith('is suspended') || doing.startsWith('cut off');
const does = doing => (isIdle(doing) ? '○ ' : isIll(doing) ? '▲ ' : '● ') + doing;
const dim = (text, isZero, more = '') => [text, 'number' + (isZero ? ' zero' : more)];
const columns = [
  {title: 'Actor', key: row => row.name},
  {title: 'Kind', key: row => row.kind, cell: row => [row.kind, 'muted']},
  {title: 'Does', key: row => row.doing, cell: row => [does(row.doing), isIdle(row.doing) ? 'idle' : isIll(row.doing) ? 'bad' : '']},
  {title: 'Busy for', key: row => row.busyMillis, cell: row => dim(duration(row.busyMillis), row.busyMillis === 0)},
  {title: 'Waiting', key: row => row.waiting, cell: row => dim(number(row.waiting), row.waiting === 0)},
  {title: 'Handled', key: row => row.handled, cell: row => dim(number(row.handled), row.handled === 0)},
  {title: 'Per second', key: row => row.perSecond ?? 0, cell: row => dim(rate(row.perSecond), !row.perSecond)},
  {title: 'Failed', key: row => row.failed, cell: row => dim(row.failed ? '▲ ' + number(row.failed) : '0', row.failed === 0, ' bad')},
];
let sorted = null; // the column that sorts the rows; null: none, rows are shown as a tree
let falling = true;
let statistics = null;
let filtered = null; // the rows that match the filter; null: no filter

columns.forEach((column, place) => {
  column.head = made('th', place < 3 ? '' : 'number');
  column.head.scope = 'col';
  column.button = made('button', '', column.title);
  column.button.type = 'button';
  column.button.addEventListener('click', () => {
    const first = place >= 3; // numbers begin with the largest
    if (sorted !== column) [sorted, falling] = [column, first];
    else if (falling === first) falling = !first;
    else sorted = null;
    showRows();
  });
  column.head.append(column.button);
  byId('columns').append(column.head);
});

const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;

/** Returns the lines of the table: scopes, each before its actors; if a column sorts, actors alone. */
function lines(rows) {
  if (sorted) return rows.toSorted((a, b) => compare(sorted.key(a), sorted.key(b)) * (falling ? -1 : 1));
  const of = Map.groupBy(rows, row => row.scope);
  const within = statistics.scopes.map((scope, i) => [scope, i]).filter(([, i]) => filtered === null || of.has(i));
  return within.flatMap(([scope, i]) => [scope, ...(of.get(i) ?? [])]);
}

function newLine() {
  const tr = document.createElement('tr');
  const name = document.createElement('th');
  name.scope = 'row';
  name.append(made('bdi'), made('small'));
  tr.append(name);
  for (let i = 1; i < columns.length; i++) tr.append(document.createElement('td'));
  byId('rows').append(tr);
  return tr;
}

function showLine(tr, line) {
  const isScope = line.names !== undefined;
  const scope = isScope ? line : statistics.scopes[line.scope];
  const depth = sorted ? 0 : scope.names.length - (isScope ? 1 : 0);
  const name = tr.cells[0];
  const [label, place] = name.children;
  if (tr.className !== (isScope ? 'scope' : '')) tr.className = isScope ? 'scope' : '';
  if (name.style.getPropertyValue('--depth') !== String(depth)) name.style.setProperty('--depth', depth);
  set(label, isScope ? scope.names.at(-1) : line.name);
  set(place, isScope ? '' : sorted ? scope.names.join(' / ') : '');
  if (name.title !== label.textContent) name.title = label.textContent;
  columns.slice(1).forEach((column, i) => {
    const [text, className] = !isScope ? column.cell(line)
      : column.title === 'Does' ? [number(scope.actors) + (scope.actors === 1 ? ' actor' : ' actors'), '']
      : i < 3 ? ['', ''] : column.cell(scope);
    set(tr.cells[i + 1], text, className);
    const title = i < 2 ? text : ''; // the cell may show only a part of the text
    if (tr.cells[i + 1].title !== title) tr.cells[i + 1].title = title;
  });
}

function showRows() {
  if (!statistics) return;
  const rows = filtered ?? statistics.rows;
  const all = lines(rows);
  const body = byId('rows');
  all.forEach((line, i) => showLine(body.rows[i] ?? newLine(), line));
  while (body.rows.length > all.length) body.lastChild.remove();
  set(byId('shown'), filtered ? `${number(rows.length)} found`
    : rows.length < statistics.actors ? `the ${number(rows.length)} busiest of ${number(statistics.actors)}`
    : `${number(rows.length)} in ${statistics.scopes.length} ${statistics.scopes.length === 1 ? 'scope' : 'scopes'}`);
  for (const column of columns) {
    set(column.button, column.title + (sorted === column ? falling ? ' ▼' : ' ▲' : ''));
    if (sorted === column) column.head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    else column.head.removeAttribute('aria-sort');
  }
}

/** Lets the server filter, because the page does not have all actors. */
async function filter() {
  const text = byId('filter').value.trim();
  if (text === '') {
    filtered = null;
    return showRows();
  }
  if (!statistics) return; // the first event filters
  const answer = await fetch('statistics?filter=' + encodeURIComponent(text)).catch(() => null);
  if (!answer?.ok) return; // the stream's onerror shows that the connection is lost
  const found = await answer.json();
  if (text !== byId('filter').value.trim()) return; // the filter has changed, so a later request is pending
  filtered = found.rows.filter(row => row.scope < statistics.scopes.length);
  showRows();
}

byId('filter').addEventListener('input', filter);

// ---- what went wrong

function showReasons(counts) {
  const list = byId('reasons');
  for (const [reason, count] of Object.entries(counts)) {
    let pair = list.querySelector(`[data-reason=${reason}]`);
    if (!pair) {
      pair = made('div');
      pair.dataset.reason = reason;
      pair.append(made('dt', '', reason.replace('_', ' ')), made('dd'));
      list.append(pair);
    }
    set(pair.lastChild, number(count), count ? 'some' : 'zero');
    set(pair.firstChild, reason.replace('_', ' '), count ? '' : 'zero');
  }
}

function showList(list, items, none, text) {
  const said = JSON.stringify(items);
  if (list.dataset.said === said) return; // so that selected text stays selected
  list.dataset.said = said;
  list.replaceChildren(...(items.length ? items.map(item => {
    const [what, detail] = text(item);
    const entry = made('li');
    const first = made('div', 'first');
    first.append(made('bdi', '', what), made('span', 'times', '× ' + number(item.count)));
    entry.append(first);
    if (detail) entry.append(made('div', 'detail', detail));
    return entry;
  }) : [made('li', 'none', none)]));
}

// ---- the stream

function show(data) {
  statistics = data;
  document.title = data.scope + ' – Fibry dashboard';
  set(byId('scope'), data.scope);
  set(byId('status'), data.closed ? '■ this scope has closed' : '● live', data.closed ? 'quiet' : 'live');
  cards.forEach(card => showCard(card, data));
  showReasons(data.unhandled);
  showList(byId('cycles'), data.cycles, 'none in the dead letters', cycle => [cycle.names.join(' → ')]);
  showList(byId('letters'), data.deadLetters, 'none', letter =>
    [letter.actor, [letter.reason.replace('_', ' '), letter.message, letter.cause].filter(Boolean).join(' · ')]);
  if (byId('filter').value.trim() === '') showRows();
  else filter();
}

function listen() {
  const events = new EventSource('events');
  events.onmessage = event => show(JSON.parse(event.data));
  events.onerror = () => {
    set(byId('status'), '▲ connection lost, trying again', 'bad');
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 3000); // refused: the browser does not reconnect by itself
  };
}
listen();
