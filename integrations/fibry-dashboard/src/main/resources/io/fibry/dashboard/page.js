'use strict';
// Names of actors and texts of messages are not trusted: all of them are set as text, never as HTML.

const HISTORY = 180; // snapshots that the page keeps of an actor, one a second
const WINDOW = 600_000; // milliseconds in a curve of the totals
const byId = id => document.getElementById(id);
const whole = new Intl.NumberFormat('en');
const tenths = new Intl.NumberFormat('en', {minimumFractionDigits: 1, maximumFractionDigits: 1});
const number = value => whole.format(value);
const oneDigit = new Intl.NumberFormat('en', {maximumSignificantDigits: 1});
const rate = value => value === null ? '–' : value >= 1000 ? whole.format(Math.round(value))
  : value > 0 && value < 0.1 ? oneDigit.format(value) : tenths.format(value);

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

// ---- curves

const SVG = 'http://www.w3.org/2000/svg';

/** Makes a curve, which fills the width of its box. */
function newCurve() {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 100 34');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  for (const part of ['area', 'line', 'pause']) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', part);
    svg.append(path);
  }
  return svg;
}

let pauses = []; // of the process in the last minutes: {start, end}

/** Remembers the pauses of the process, as the server tells them. */
function rememberPauses(data) {
  for (const {millis, millisAgo} of [...data.pauses ?? [], ...data.pause ? [data.pause] : []]) {
    const end = data.time - millisAgo;
    if (!pauses.some(pause => Math.abs(pause.end - end) < 2000 + data.readMillis)) pauses.push({start: end - millis, end});
  }
  pauses = pauses.filter(pause => data.time - pause.end < WINDOW);
}

/** Returns whether the process was paused between two points, so that the curve has a gap there. */
const hasGap = (before, time) => pauses.some(pause => pause.end > before && pause.start < time);

/**
 * Shows values that were taken at these times, by default in equal distances, and in gray the pauses of the process, in
 * which the curve has a gap.
 */
function showCurve(svg, values, times = values.map((_, i) => i)) {
  const max = Math.max(...values) || 1;
  const step = 100 / (times.at(-1) - times[0] || 1);
  const points = values.map((y, i) => `${((times[i] - times[0]) * step).toFixed(2)},${(32 - 30 * y / max).toFixed(1)}`);
  if (points.length === 1) points.push(points[0].replace('0.00', '100'));
  const runs = []; // points without a gap between them
  points.forEach((point, i) => !i || i < times.length && hasGap(times[i - 1], times[i]) ? runs.push([point]) : runs.at(-1).push(point));
  const xOf = point => point.split(',')[0];
  const [area, line, band] = svg.children;
  const place = time => Math.min(100, Math.max(0, (time - times[0]) * step)).toFixed(2);
  band.setAttribute('d', pauses.filter(pause => times.length > 1 && pause.end > times[0] && pause.start < times.at(-1))
    .map(pause => `M${place(pause.start)},0H${place(pause.end)}V34H${place(pause.start)}Z`).join(''));
  line.setAttribute('d', runs.map(run => 'M' + run.join('L')).join(''));
  area.setAttribute('d', runs.map(run => `M${xOf(run[0])},34L${run.join('L')}L${xOf(run.at(-1))},34Z`).join(''));
}

function duration(millis) {
  if (millis === 0) return '–';
  if (millis < 1000) return millis + ' ms';
  if (millis < 10000) return tenths.format(Math.floor(millis / 100) / 10) + ' s';
  if (millis < 60000) return Math.floor(millis / 1000) + ' s';
  return millis < 3600000 ? Math.floor(millis / 60000) + ' min' : Math.floor(millis / 3600000) + ' h';
}

const RANGE_HINT = '≤: the largest value in the time of the chart';
const RATE_HINT = ', each of about ten seconds';
const RATE_MILLIS = 10_000; // between the points of the server, each of which may be a tenth early

/** Returns the largest value, and the time that the curve shows. */
const range = (values, millis, text) => `≤ ${text(Math.max(...values))}` + (millis > 0 ? ` in ${duration(millis)}` : '');

// ---- totals and the process, each with a curve of its last minutes

const sum = counts => Object.values(counts).reduce((all, one) => all + one, 0);
const bytes = value => value >= 1e9 ? tenths.format(value / 1e9) + ' GB' : number(Math.round(value / 1e6)) + ' MB';
const counted = (count, unit) => number(count) + ' ' + unit + (count === 1 ? '' : 's');
const cards = [
  {title: 'Sent', value: f => f.sent, rate: f => f.perSecond.sent},
  {title: 'Handled', value: f => f.handled, rate: f => f.perSecond.handled},
  {title: 'Being handled', value: f => f.handling, side: () => 'by handlers'},
  {title: 'Waiting', value: f => f.waiting, side: () => 'in mailboxes'},
  {title: 'Unhandled', value: f => sum(f.unhandled), rate: f => f.perSecond.unhandled},
  {title: 'Heap', value: f => f.process.heapUsed, text: bytes, side: f => 'of ' + bytes(f.process.heapMax)},
  {title: 'Processor', value: f => f.process.load === undefined ? null : 100 * f.process.load,
    text: value => Math.round(value) + ' %', side: f => 'of ' + counted(f.process.processors, 'processor')},
  {title: 'Queued threads', hint: 'Virtual threads that wait for a carrier', value: f => f.process.queued ?? null,
    side: f => f.process.mounted === undefined ? 'since Java 24' : number(f.process.mounted) + ' mounted'},
];

for (const card of cards) {
  const box = made('div', 'card');
  card.curve = newCurve();
  card.history = [];
  card.number = made('p', 'value', '–');
  box.title = [card.hint, RANGE_HINT + (card.rate ? RATE_HINT : ''), 'Gray: the process was paused'].filter(Boolean).join('. ');
  card.right = made('p', 'rate muted', card.rate ? '– per second' : '');
  card.range = made('p', 'range muted');
  box.append(made('h2', '', card.title), card.right, card.number, card.range, card.curve);
  byId('cards').append(box);
}

/** Adds the value of a snapshot, or of a point of the server's history, to the curve of a card. */
function rememberTotal(card, data, time) {
  const value = (card.rate ?? card.value)(data);
  if (value === null) return;
  card.history.push({time, value});
  while (time - card.history[0].time > WINDOW) card.history.shift();
}

/**
 * Returns the means of about ten seconds of rates, so that points of each second have the maximum of the server's points.
 * A mean contains no rates from before a pause of the process.
 */
const tenSecondMeans = points => points.map((point, i) => {
  let [sum, millis] = [0, 0];
  for (let j = i; j > 0 && millis < 0.9 * RATE_MILLIS; j--) {
    if (hasGap(points[j - 1].time, point.time)) break;
    const step = points[j].time - points[j - 1].time;
    sum += points[j].value * step;
    millis += step;
  }
  return millis ? sum / millis : point.value;
});

function showCard(card, data) {
  const value = card.value(data);
  const text = card.text ?? number;
  const now = data.time;
  set(card.number, value === null ? '–' : text(value));
  set(card.right, card.rate ? rate(card.rate(data)) + ' per second' : card.side(data));
  if (data.history) card.history = [];
  for (const point of data.history ?? []) rememberTotal(card, point, now - 1000 * point.secondsAgo);
  rememberTotal(card, data, now);
  if (!card.history.length) return;
  const times = card.history.map(point => point.time);
  const values = card.rate ? tenSecondMeans(card.history) : card.history.map(point => point.value);
  set(card.range, range(values, Math.round((times.at(-1) - times[0]) / 1000) * 1000, card.rate ? rate : text));
  showCurve(card.curve, values, times);
}

// ---- the alarm line

// no alarms: another actor is the cause, most messages succeed, the pause is over, or normal load has made the queue
const MINOR = ['blocked', 'failed', 'paused', 'queued'];
/** Returns whether the row has a problem that is an alarm. */
const isUrgent = row => row.problems?.some(problem => !MINOR.includes(problem));
const urgency = row => Object.keys(statistics.problems).indexOf(row.problems[0]);
const magnitude = value => Math.floor(Math.log2(value + 1));
const rank = row => [urgency(row), -magnitude(row.busyMillis / 10_000), -magnitude(row.waiting)];
/** Compares by ranks that seldom change, so that the rows keep their places. */
const byUrgency = (a, b) => {
  const [one, other] = [rank(a), rank(b)];
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2] || compare(a.name, b.name);
};
const ill = rows => rows.filter(row => row.problems).toSorted(byUrgency);

const MAX_NAMES = 6; // actors of one problem, or routes, that the alarm line names
const STALLS = ['cut off', 'stuck', 'without thread', 'restarting']; // an actor or route with one of them is stalled

/** Returns how long ago a failure was, in steps of ten seconds, so that the text seldom changes. */
const ago = millis => millis < 10_000 ? 'just now' : `last ${duration(Math.floor(millis / 10_000) * 10_000)} ago`;

/** Returns the first links, and a link to the next if there are more of this number. */
function firstOf(links, total = links.length) {
  const shown = links.slice(0, MAX_NAMES);
  const rest = total - shown.length;
  const more = rest > 0 && shown.length ? [{text: `${number(rest)} more`, place: (links[MAX_NAMES] ?? shown.at(-1)).place}] : [];
  return [...shown, ...more].flatMap((link, i) => [i ? ', ' : '', link, link.note ?? '']).filter(Boolean);
}

const actorLinks = (rows, note = () => '') =>
  rows.map(row => ({text: row.name, place: {scope: path(row), name: row.name}, note: note(row)}));

/** Returns since when an actor is stuck, or why it is full, expiring or blocked, in parentheses. */
const noteOf = kind => row => kind === 'stuck' ? row.busyMillis ? ` (since ${steadyClock(actorKey(path(row), row.name), row.busyMillis)})` : ''
  : kind === 'full' ? ` (${fullDoes(row)})`
  : kind === 'expiring' && row.expiredRecently ? ` (${expiredOf(row)})`
  : kind === 'blocked' ? ` (waits for ${row.awaits})` : '';

/** Returns whether the item is no alarm: the program works, another actor is the cause, or the problem is over. */
const isMinor = item => MINOR.includes(item.kind) || item.kind?.startsWith(OVER);
const OVER = 'no longer ';
const NOT_SEEN = {failing: 'has not failed', 'timing out': 'has not timed out', unavailable: 'has not been unavailable', slow: 'has not been slow'};
/** Returns for how long a route has been without the problem, in steps of ten seconds. It may come back, so the text does not say that it is over. */
const overText = (route, problem) => NOT_SEEN[problem] === undefined ? 'is ' + OVER + problem
  : `${NOT_SEEN[problem]} for ${duration(Math.floor(route.endedMillisAgo[problem] / 10_000) * 10_000)}`;
const isOver = (having, problem) => having.endedMillisAgo?.[problem] !== undefined;

/** Returns an item for each problem of actors; ended problems have items of their own. */
function actorAlarms(data) {
  const rows = ill(data.rows);
  return Object.keys(data.problems).filter(kind => kind !== 'failed').flatMap(kind => {
    const having = rows.filter(row => has(row, kind));
    const [present, ended] = [false, true].map(isEnded => having.filter(row => isOver(row, kind) === isEnded));
    return [[data.problems[kind] - ended.length, kind, present], [kind === 'blocked' ? 0 : ended.length, OVER + kind, ended]] // the latter is no stall
      .filter(([count]) => count > 0)
      .map(([count, text, rows]) => ({kind: text, parts: [`${number(count)} ${text}: `, ...firstOf(actorLinks(rows, noteOf(text)), count)]}));
  });
}

const presentProblems = route => (route.problems ?? []).filter(problem => !isOver(route, problem));
/** The urgency of the problems of routes. A client whose request fails does not care about the status. */
const ROUTE_RANKS = {stuck: 0, failing: 1, 'timing out': 1, unavailable: 1, slow: 2};
const MAX_RANK = 3; // of a route whose problems are over
/** Returns the most urgent rank of a route, the highest recent share of responses with a problem of this rank, and how busy the route is. */
function routeRank(route) {
  const present = presentProblems(route);
  const rank = Math.min(MAX_RANK, ...present.map(problem => ROUTE_RANKS[problem]));
  const percents = present.filter(problem => ROUTE_RANKS[problem] === rank && route.recent?.[problem]?.of)
    .map(problem => 100 * route.recent[problem].count / route.recent[problem].of);
  const percent = Math.max(0, ...percents);
  return [rank, -(percent < 10 ? Math.floor(percent) : Math.floor(percent / 10) * 10), -magnitude(route.perSecond ?? 0)];
}
/**
 * Compares routes: first the most urgent problem, then the highest share, then the busiest. The steps of shares and rates
 * are coarse, so that rows keep their places. Routes without problems come last, in their own order.
 */
function byRouteProblem(a, b) {
  if (!a.problems || !b.problems) return !a.problems - !b.problems;
  const [one, other] = [routeRank(a), routeRank(b)];
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}
/** Returns how many of the recent responses had a problem, such as "60 of 60 in 70 s" after a mark; an empty text if it is not known. */
const shareOf = (panel, route, problem, mark) => {
  const recent = route.recent?.[problem];
  return recent?.count ? mark + steadyText([panel, route.route, problem].join('\n'), `${number(recent.count)} of ${number(recent.of)}${within(recent.inMillis)}`) : '';
};

/** Returns an item for each route with problems, the worst first. Routes whose problems are over come last. */
function routeAlarms(panels) {
  const routes = panels.flatMap(panel => (panel.routes ?? []).filter(route => route.problems).map(route => ({panel, route})));
  routes.sort((a, b) => byRouteProblem(a.route, b.route));
  const items = routes.map(({panel, route}) => {
    const [now, ended] = [presentProblems(route), route.problems.filter(problem => isOver(route, problem))];
    const text = problem => (share => problem + (share && ` (${share})`))(shareOf(panel.title, route, problem, ''));
    const texts = [...now.length ? ['is ' + now.map(text).join(' and ')] : [], ...ended.map(problem => overText(route, problem))];
    return {kind: now[0] ?? OVER + ended[0], parts: [{text: `${panel.title} ${route.route}`, place: {panel: panel.title, route: route.route}}, ' ' + texts.join(' and ')]};
  });
  const rest = items.slice(MAX_NAMES);
  return rest.length ? [...items.slice(0, MAX_NAMES), {kind: rest[0].kind, parts: [{...rest[0].parts[0], text: counted(rest.length, 'more route')}]}] : items;
}

const panelAlarms = panels => panels.filter(panel => panel.problems?.length).map(panel =>
  ({parts: [{text: panel.title, place: {panel: panel.title}}, ' is ' + panel.problems.join(' and ')]}));

/** Returns an item for the actors that failed and have no urgent problem; none if there are no such actors. */
function failureAlarms(data) {
  if (!data.recentFailures) return [];
  const {actors, failures, inMillis, lastAt} = data.recentFailures;
  const millisAgo = lastAt === undefined ? data.recentFailures.millisAgo : Math.max(0, data.time - Date.parse(lastAt));
  const links = actorLinks(ill(data.rows).filter(row => has(row, 'failed') && !isUrgent(row)));
  return [{kind: 'failed', parts: [`${counted(failures, 'failure')}${failures > 1 ? within(inMillis) : ''}${actors > 1 ? ` of ${number(actors)} actors` : ''}, ${ago(millisAgo)}: `, ...firstOf(links)]}];
}

/** Returns an item for a pause of the whole process that ended within the last minute. */
const pauseAlarms = data => data.pause
  ? [{kind: 'paused', parts: [`the process was paused for ${duration(data.pause.millis)}, until ${steadyClock('pause', data.pause.millisAgo)}`]}] : [];

const MIN_SATURATED = 60_000; // milliseconds until a saturation is an alarm, because a burst of messages is no problem
/** Returns an item for threads that wait for a carrier, which may be the cause of all other problems. */
const saturationAlarms = data => data.saturated
  ? [{kind: data.saturated.millis < MIN_SATURATED ? 'queued' : 'saturated', parts: [steadyText('saturated', `${number(data.saturated.queued)} virtual threads wait for a carrier since ${steadyClock('saturated', data.saturated.millis)}`)]}] : [];

/**
 * Returns the items of the alarm line: first a saturated scheduler, then stalled actors and routes, then stores and
 * nodes, other actors, and other routes.
 * At the end are blocked actors, ended problems, single failures and a pause, which are no alarms.
 */
function alarms(data) {
  const [actors, routes] = [actorAlarms(data), routeAlarms(data.panels)];
  const stalls = item => STALLS.includes(item.kind);
  return [...saturationAlarms(data), ...actors.filter(stalls), ...routes.filter(stalls), ...panelAlarms(data.panels),
    ...actors.filter(item => !stalls(item) && !isMinor(item)), ...routes.filter(item => !stalls(item) && !isMinor(item)),
    ...actors.filter(isMinor), ...routes.filter(isMinor), ...failureAlarms(data), ...pauseAlarms(data)];
}

/** Shows items, whose parts are texts and links. Keeps the elements if nothing has changed, so that a link keeps the focus. */
function setAlarm(mark, items, className) {
  const line = byId('alarm');
  const said = JSON.stringify([mark, items]);
  if (line.className !== className) line.className = className;
  if (line.dataset.said === said) return;
  line.dataset.said = said;
  const isMarked = item => className === 'bad' && isMinor(item); // so that it does not look like an alarm
  line.replaceChildren(mark + ' ', ...items.flatMap((item, i) => {
    const parts = item.parts.map(part => typeof part === 'string' ? part : newLink(part));
    const minor = made('span', 'minor');
    if (isMarked(item)) minor.append(...parts);
    return [i ? ' · ' : '', ...(isMarked(item) ? [minor] : parts)];
  }));
}

function newLink({text, place}) {
  const link = made('a', '', text);
  link.href = '#alarm';
  link.place = place;
  return link;
}

const plain = text => [{parts: [text]}];

/** @param silence a text if no data arrives, so that all problems are of the past */
function showAlarm(data, silence = '') {
  const kinds = Object.keys(data.problems).filter(kind => !MINOR.includes(kind));
  const items = alarms(data);
  if (silence) setAlarm('▲', [...plain(silence), ...items], 'bad');
  else if (data.closed && !data.panels.some(panel => panel.problems?.length || panel.routes?.some(route => route.problems)))
    setAlarm('■', plain('this scope has closed'), 'quiet');
  else if (items.some(item => !isMinor(item))) setAlarm('▲', items, 'bad');
  else if (items.length) setAlarm('△', items, 'warn');
  else setAlarm('✓', plain(`no actor is ${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`), 'good');
  document.title = (byId('alarm').className === 'bad' ? '▲ ' : '') + data.scope + ' – Fibry dashboard';
}

byId('alarm').addEventListener('click', event => {
  if (!event.target.place) return;
  event.preventDefault();
  go(event.target.place);
});

/** Opens the details of an actor or route, and scrolls to its row; or scrolls to a panel. */
function go(place) {
  const isActor = place.name !== undefined;
  if (isActor && filtered) {
    byId('filter').value = '';
    filtered = null;
  }
  if (isActor || place.route !== undefined) select(place);
  const element = isActor ? [...byId('rows').rows].find(tr => tr.line.row && isSelected(tr.line.row))
    : place.route !== undefined ? document.querySelector('.routes tr.selected')
    : [...document.querySelectorAll('#panels h2')].find(head => head.textContent === place.panel)?.parentElement;
  element?.scrollIntoView();
}

// ---- actors

/** Returns problems with the times of day since when they exist, or until when they existed. */
const timed = (problems, key, endedMillisAgo, busyMillis, time) => problems.map(problem => problem
  + (endedMillisAgo?.[problem] !== undefined ? ' until ' + steadyClock(key + problem, endedMillisAgo[problem], time)
    : problem === 'stuck' || problem === 'blocked' ? ' since ' + steadyClock(key, busyMillis, time) : '')).join(', ');
/** Returns the time in which recent events were counted, in steps of ten seconds; after a minute, it stays the same. */
const within = millis => ` in ${millis >= 60_000 && millis < 71_000 ? 70 : Math.ceil(millis / 10_000) * 10} s`;
const failuresOf = row => counted(row.recentFailures, 'failure') + (row.recentFailures > 1 ? within(row.failedInMillis) : '')
  + ', ' + lastTime(row.failedAt, actorKey(path(row), row.name) + 'failed', row.failedMillisAgo, row.time);
/** Returns the exact time of the last failure, or, if it is not known, the time when the dashboard saw the failure. */
const lastTime = (at, key, millisAgo, now) => at === undefined ? 'last seen ' + steadyClock(key, millisAgo, now) : 'last ' + clock(at);
/** Returns what a full mailbox did, as the alarm line, the row and the details have it for ten seconds. */
const fullDoes = row => steadyText(actorKey(path(row), row.name), fullText(row));
/** What a full mailbox does with the next message, by its Overflow. */
const OVERFLOWS = {block: 'senders wait', reject: 'refuses', drop_newest: 'refuses', drop_oldest: 'drops the oldest'};
/** Returns what a full mailbox did. If it has lost no message lately, its rule is shown. */
const fullText = row => !hasLost(row) ? OVERFLOWS[row.overflow]
  : [row.refusedRecently ? 'refused ' + number(row.refusedRecently) : '', row.droppedRecently ? 'dropped ' + number(row.droppedRecently) : '']
    .filter(Boolean).join(' and ') + within(row.lostInMillis);
/** Returns the waiting messages of a growing queue, and how many more they are than before; the same text for ten seconds. */
const growthOf = row => steadyText(actorKey(path(row), row.name) + '\ngrowing', number(row.waiting) + ' waiting'
  + (row.grewRecently > 0 ? `, ${number(row.grewRecently)} more` + within(row.grewInMillis) : ''));
/** Returns how many requests have expired in the mailbox; the same text for ten seconds. */
const expiredOf = row => steadyText(actorKey(path(row), row.name) + '\nexpiring', counted(row.expiredRecently, 'request') + within(row.expiredInMillis));
/** Returns the problems of an actor, with its lost messages, recent failures and growth. */
const problemsOf = row => row.problems.filter(problem => problem !== 'failed' || !has(row, 'failing')).map(problem =>
  problem === 'full' ? 'full: ' + fullDoes(row)
    : problem === 'failing' && row.recentFailures ? 'failing: ' + failuresOf(row)
    : problem === 'expiring' && row.expiredRecently ? 'expiring: ' + expiredOf(row)
    : problem === 'growing' && row.waiting ? 'growing: ' + growthOf(row)
    : problem === 'failed' ? failuresOf(row) : problem);
const does = row => row.problems
  ? [`${isUrgent(row) ? '▲' : '△'} ${timed(problemsOf(row), actorKey(path(row), row.name), row.endedMillisAgo, row.busyMillis, row.time)} · ${row.doing}`, isUrgent(row) ? 'bad' : 'warn']
  : row.state === 'idle' ? ['○ ' + row.doing, 'idle']
  : row.state === 'awaiting_step' ? ['○ idle, ' + (row.doing === 'waits' ? 'waits for its client' : row.doing), 'idle'] : ['● ' + row.doing, row.kind.startsWith('pool') ? 'pool' : ''];
const has = (row, problem) => row.problems?.includes(problem);
const dim = (text, isZero, more = '') => [text, 'number' + (isZero ? ' zero' : more)];
const busy = row => (row.busyMillis && row.busyExact === false ? '≥ ' : '') + duration(row.busyMillis);
const isOld = row => row.waiting > 0 && row.oldestMillis >= 1000;
/** Returns how many messages wait, and how long at least the oldest has waited. */
const waiting = row => number(row.waiting) + (isOld(row) ? ' · ≥ ' + duration(row.oldestMillis) : '');
/** Returns the cell of a count since the start, which is marked if it has risen within the last minute. */
const recentCount = (count, isRecent, isBad = true) =>
  dim((isRecent ? isBad ? '▲ ' : '△ ' : '') + short(count, isRecent), count === 0, isRecent ? isBad ? ' bad' : ' warn' : '');
/** Returns a count that fits its cell; a marked count is bold, and has less space. */
const short = (count, isMarked = false) => count < (isMarked ? 10_000 : 100_000) ? number(count) : brief.format(count);
const hasLost = row => row.refusedRecently + row.droppedRecently > 0;
const lost = row => row.refused + row.dropped;
const lostText = row => `${number(row.refused)} refused · ${number(row.dropped)} dropped`;
const columns = [
  {title: 'Actor', key: row => row.name},
  {title: 'Kind', key: row => row.kind, cell: row => [row.kind.replaceAll('_', ' '), 'muted']},
  {title: 'Does', key: row => row.doing, cell: does},
  {title: 'Busy for', key: row => row.busyMillis,
    cell: row => dim(busy(row), row.busyMillis === 0, has(row, 'stuck') ? ' bad' : '')},
  {title: 'Waiting', key: row => row.waiting,
    cell: row => dim(waiting(row), row.waiting === 0, ['full', 'backlogged', 'growing'].some(p => has(row, p)) ? ' bad' : '')},
  {title: 'Handled', key: row => row.handled, tip: row => number(row.handled) + ' handled', cell: row => dim(short(row.handled), row.handled === 0)},
  {title: 'Per second', key: row => row.perSecond ?? 0, cell: row => dim(rate(row.perSecond), !row.perSecond)},
  {title: 'Failed', key: row => row.failed, tip: row => number(row.failed) + ' failed' + (row.restarted ? ' · ' + counted(row.restarted, 'restart') : ''),
    cell: row => recentCount(row.failed, row.recentFailures > 0, has(row, 'failing'))},
  {title: 'Lost', hint: 'Messages that full mailboxes refused or dropped', key: lost, tip: lostText,
    cell: row => recentCount(lost(row), hasLost(row))},
];
// a second button in the head of a column, which sorts by the age that its cells also show
const oldest = {title: 'oldest', column: columns.find(column => column.title === 'Waiting'),
  hint: 'How long at least the oldest message has waited', key: row => isOld(row) ? row.oldestMillis : 0};
let sorted = null; // the column or age that sorts the rows; null: none, problems are first and the others are a tree
let falling = true;
let statistics = null;
let filtered = null; // the rows that match the filter; null: no filter
const unfolded = new Set(); // the keys of the groups whose actors are shown

columns.forEach((column, place) => {
  column.head = made('th', place < 3 ? '' : 'number');
  column.head.scope = 'col';
  addSorter(column, column.head, place >= 3); // numbers begin with the largest
  byId('columns').append(column.head);
});
addSorter(oldest, oldest.column.head, true);

/** Adds a button that sorts by the column or age: first in the given order, then in the other, then not. */
function addSorter(sorter, head, isFallingFirst) {
  sorter.button = made('button', '', sorter.title);
  sorter.button.type = 'button';
  sorter.isFallingFirst = isFallingFirst;
  sorter.button.addEventListener('click', () => {
    if (sorted !== sorter) [sorted, falling] = [sorter, isFallingFirst];
    else if (falling === isFallingFirst) falling = !falling;
    else sorted = null;
    showRows();
  });
  head.append(sorter.button);
}

/** Returns what the next click on a button of a column does. */
const nextClick = sorter => sorted !== sorter ? 'Sorts the actors'
  : falling === sorter.isFallingFirst ? 'A second click reverses the order' : 'A third click puts problems first again';

byId('unsort').addEventListener('click', () => {
  sorted = null;
  showRows();
});

const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
const path = row => statistics.scopes[row.scope].names.join(' / ');
const groupKey = group => [path(group), group.kind, group.name].join('\n');
const byColumn = (a, b) => compare(sorted.key(a), sorted.key(b)) * (falling ? -1 : 1);
const actorLine = (row, depth, hasPath) => ({row, depth, name: row.name, place: hasPath ? path(row) : ''});

/**
 * Returns the lines of the table: actors with problems, then scopes, each before its actors. If a
 * column sorts, returns the sorted actors, and then the groups.
 */
function lines(rows) {
  if (sorted) return [...rows.filter(row => row.group === undefined).toSorted(byColumn).map(row => actorLine(row, 0, true)),
    ...(filtered !== null ? [] : statistics.groups.flatMap((group, index) =>
      groupLines(group, rows.filter(row => row.group === index).toSorted(byColumn), 0, path(group))))];
  const urgent = ill(rows);
  const all = urgent.map(row => actorLine(row, 1, true));
  if (urgent.length) all.unshift({type: 'scope', depth: 0, name: 'Problems', count: counted(urgent.length, 'actor')});
  const of = Map.groupBy(rows.filter(row => !row.problems), row => row.scope);
  statistics.scopes.forEach((scope, i) => {
    if (filtered !== null && !of.has(i)) return;
    const depth = scope.names.length;
    const count = counted(scope.actors, 'actor');
    all.push({type: 'scope', depth: depth - 1, name: scope.names.at(-1), count, totals: scope});
    const own = of.get(i) ?? [];
    all.push(...own.filter(row => row.group === undefined).map(row => actorLine(row, depth, false)));
    if (filtered === null) statistics.groups.forEach((group, index) => {
      if (group.scope === i) all.push(...groupLines(group, own.filter(row => row.group === index), depth));
    });
  });
  return all;
}

function groupLines(group, members, depth, place = '') {
  const isOpen = unfolded.has(groupKey(group));
  const name = (isOpen ? '▾ ' : '▸ ') + (group.name || 'others');
  const count = (group.working ? `● ${number(group.working)} at work, ` : '○ ') + number(group.actors - group.working) + ' idle';
  const line = {type: 'group', depth, name, place, kind: group.kind, count, totals: group, group};
  if (!isOpen) return [line];
  const missing = group.actors - members.length;
  const more = {type: 'more', depth: depth + 1, name: `${number(missing)} more, which the filter finds`};
  return [line, ...members.map(row => actorLine(row, depth + 1, place !== '')), ...(missing > 0 ? [more] : [])];
}

function newLine() {
  const tr = document.createElement('tr');
  const name = document.createElement('th');
  name.scope = 'row';
  const button = made('button', 'name');
  button.type = 'button';
  name.append(button, made('small'));
  tr.append(name);
  for (let i = 1; i < columns.length; i++) tr.append(document.createElement('td'));
  byId('rows').append(tr);
  return tr;
}

/** Returns the text and the class of a cell of a line that is no actor. */
function totalsCell(column, line) {
  if (column.title === 'Kind') return [(line.kind ?? '').replaceAll('_', ' '), 'muted'];
  if (column.title === 'Does') return [line.count ?? '', line.type === 'group' ? 'idle' : ''];
  return column.title === 'Busy for' || !line.totals ? ['', ''] : column.cell(line.totals);
}

// the times of day that the page shows, by what they are of: {time, snapshot}
const steadyTimes = new Map();

/**
 * Returns a time of day, by the clock of the server, because data may arrive late. It stays the same if its distance
 * from now varies by less than two seconds, or the time in which the server read all actors.
 */
function steadyClock(key, millisAgo, now = statistics.time) {
  let time = now - millisAgo;
  const before = steadyTimes.get(key);
  if (before && Math.abs(before.time - time) < 2000 + statistics.readMillis) time = before.time;
  steadyTimes.set(key, {time, snapshot: snapshots});
  return clock(time);
}

const steadyTexts = new Map(); // texts of the alarm line and the rows, by actor: {text, time}

/** Returns the text that was first returned in the last ten seconds, so that the alarm line and the rows agree. */
function steadyText(key, text) {
  const before = steadyTexts.get(key);
  if (before && statistics.time - before.time < 10_000) return before.text;
  steadyTexts.set(key, {text, time: statistics.time});
  return text;
}

function showLine(tr, line) {
  tr.line = line;
  const className = line.type ?? ((line.row.problems ? 'ill' : '') + (selected && isSelected(line.row) ? ' selected' : '')).trim();
  if (tr.className !== className) tr.className = className;
  const name = tr.cells[0];
  const [label, place] = name.children;
  if (name.style.getPropertyValue('--depth') !== String(line.depth)) name.style.setProperty('--depth', line.depth);
  set(label, line.name);
  set(place, line.place ?? '');
  label.disabled = !line.row && !line.group;
  if (name.title !== line.name) name.title = line.name;
  columns.slice(1).forEach((column, i) => {
    const [text, className] = line.row ? column.cell(line.row) : totalsCell(column, line);
    set(tr.cells[i + 1], text, className);
    // a cell of the first columns may show only a part of the text
    const title = i < 2 ? text : column.tip && (line.row ?? line.totals) ? column.tip(line.row ?? line.totals) : '';
    if (tr.cells[i + 1].title !== title) tr.cells[i + 1].title = title;
  });
}

byId('rows').addEventListener('click', event => {
  const line = event.target.closest('tr')?.line;
  if (line?.group) {
    const key = groupKey(line.group);
    if (!unfolded.delete(key)) unfolded.add(key);
  } else if (line?.row) return select(isSelected(line.row) ? null : {scope: path(line.row), name: line.row.name});
  showRows();
});

/** Returns how many actors the table shows. An actor in a folded group is shown by the line of its group. */
function shownActors(rows) {
  const folded = statistics.groups.reduce((all, group) => all + group.actors, 0);
  const [single, all] = [rows.filter(row => row.group === undefined).length, statistics.actors - folded];
  return (single < all ? `the ${number(single)} busiest of ${number(all)}` : `${number(statistics.actors)} in ${counted(statistics.scopes.length, 'scope')}`)
    + (folded ? ` · ${number(folded)} ${single < all ? 'others' : 'of them'} in groups` : '');
}

function showRows() {
  if (!statistics) return;
  const rows = filtered ?? statistics.rows;
  const all = lines(rows);
  const body = byId('rows');
  all.forEach((line, i) => showLine(body.rows[i] ?? newLine(), line));
  while (body.rows.length > all.length) body.lastChild.remove();
  set(byId('shown'), filtered ? `${number(rows.length)} found` : shownActors(rows));
  const most = statistics.rows.reduce((a, b) => (b.restarted ?? 0) > (a.restarted ?? 0) ? b : a, {});
  const name = most.restarted ? `, of ${most.name} ${number(most.restarted)}` : '';
  set(byId('restarts'), [statistics.restarted ? counted(statistics.restarted, 'restart') + name : '',
    statistics.suspended ? number(statistics.suspended) + ' suspended now' : ''].filter(Boolean).join(' · '));
  for (const sorter of [...columns, oldest]) {
    set(sorter.button, sorter.title + (sorted === sorter ? falling ? ' ▼' : ' ▲' : ''));
    sorter.button.classList.toggle('sorting', sorted === sorter);
    const title = (sorter.hint ? sorter.hint + '. ' : '') + nextClick(sorter);
    if (sorter.button.title !== title) sorter.button.title = title;
  }
  byId('unsort').hidden = sorted === null;
  for (const column of columns) {
    if (sorted === column || sorted?.column === column) column.head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    else column.head.removeAttribute('aria-sort');
  }
}

// ---- one actor: the stack of its handler, its last failure, and its history; or the last failures of one route

// the actor whose details are shown, as {scope, name}, or the route, as {panel, route}; null: none
let selected = null;
let snapshots = 0;
const histories = new Map(); // of the actors that the server sends
/**
 * Returns rates of about ten seconds each, however long the time between two points is. So the points of the page and
 * those of the server, and all pages, have the same maximum. A rate contains no counts from before a pause of the process.
 */
const perSecondOf = name => points => points.slice(1).map((point, i) => {
  let base = i;
  while (base > 0 && point.time - points[base].time < 0.9 * RATE_MILLIS && !hasGap(points[base - 1].time, point.time)) base--;
  return Math.max(0, point[name] - points[base][name]) / (Math.max(RATE_MILLIS, point.time - points[base].time) / 1000);
});
const charts = [
  {title: 'Lost per second', values: perSecondOf('lost'), text: rate},
  {title: 'Failed per second', values: perSecondOf('failed'), text: rate},
  {title: 'Waiting', values: points => points.slice(1).map(point => point.waiting), text: number},
];
for (const chart of charts) {
  Object.assign(chart, {curve: newCurve(), range: made('p', 'range muted')});
  const box = made('div', 'card');
  box.title = RANGE_HINT + (chart.text === rate ? RATE_HINT : '');
  box.append(made('h2', '', chart.title), chart.range, chart.curve);
  byId('histories').append(box);
}

const actorKey = (scope, name) => scope + '\n' + name;
const isSelected = row => selected !== null && row.name === selected.name && path(row) === selected.scope;

function rememberActors(rows) {
  snapshots++;
  for (const row of rows) {
    const key = actorKey(path(row), row.name);
    const history = histories.get(key) ?? {points: []};
    history.points.push({time: statistics.time, lost: lost(row), failed: row.failed, waiting: row.waiting});
    if (history.points.length > HISTORY) history.points.shift();
    history.snapshot = snapshots;
    histories.set(key, history);
  }
  for (const [key, history] of histories) if (snapshots - history.snapshot > HISTORY) histories.delete(key);
  for (const [key, shown] of steadyTimes) if (snapshots - shown.snapshot > 2) steadyTimes.delete(key);
  for (const [key, shown] of steadyTexts) if (statistics.time - shown.time > 20_000) steadyTexts.delete(key);
}

function describe(actor) {
  if (actor.name === undefined) return 'has ended';
  const key = actorKey(selected.scope, actor.name);
  const [text] = does(actor);
  const waiting = actor.waiting || actor.capacity !== undefined
    ? number(actor.waiting) + (actor.capacity === undefined ? '' : ' of ' + number(actor.capacity)) + ' waiting'
      + (isOld(actor) ? `, the oldest for ≥ ${duration(actor.oldestMillis)}, since ${steadyClock(key + 'oldest', actor.oldestMillis, actor.time)} or before` : '') : '';
  return [selected.scope, text, actor.busyMillis ? 'busy for ' + busy(actor) + (actor.busyMillis >= 1000 ? ', since ' + steadyClock(key, actor.busyMillis, actor.time) : '') : '', waiting,
    actor.overflow ? 'if full: ' + OVERFLOWS[actor.overflow] : '', actor.kind.replaceAll('_', ' '), number(actor.handled) + ' handled', number(actor.failed) + ' failed',
    actor.restarted ? counted(actor.restarted, 'restart') : '', lostText(actor),
    actor.expired ? number(actor.expired) + ' expired' : '',
    !statistics.texts && /\bString\b/.test(actor.doing) ? 'texts of messages are hidden; the option withMessageContents() shows them' : '']
    .filter(Boolean).join(' · ');
}

/** Returns a line for each call, without the names of class loader and module. */
const frames = stack => stack.map(frame => frame.replace(/^(?:[\w.@+-]*\/){1,2}/, '')).join('\n');

/** Returns the first call of the user's code, or an empty text. */
const ownCall = stack => stack.map(frame => frame.replace(/^(?:[\w.@+-]*\/){1,2}/, ''))
  .find(frame => !/^(?:java|javax|jdk|sun|com\.sun|io\.fibry\.(?:engine|net|block|pool|flow|pubsub))\./.test(frame)) ?? '';

const DETAILS_LIMIT = 5000; // milliseconds for a request, after which the next snapshot asks again
let request = null; // the pending request for the details: {wanted, abort}; null: none

/** Shows the name of a new selection at once, and no details of the selection before. */
function showLoading() {
  request?.abort.abort(); // its answer would be late
  request = null;
  byId('details').hidden = selected === null;
  for (const id of ['actor-stacks', 'histories', 'route-failures']) byId(id).hidden = true;
  set(byId('details-name'), selected?.route ?? selected?.name ?? '');
  set(byId('details-state'), 'loading …');
  delete byId('route-failures').dataset.said;
}

/** Loads and shows the details of the selection, unless their request is still pending. */
async function showDetails() {
  if (selected === null || request !== null) return;
  const own = {wanted: selected, abort: new AbortController()};
  request = own;
  try {
    const isRoute = own.wanted.route !== undefined;
    const answer = await fetch((isRoute ? 'route?' : 'actor?') + new URLSearchParams(own.wanted),
      {signal: AbortSignal.any([own.abort.signal, AbortSignal.timeout(DETAILS_LIMIT)])});
    if (!answer.ok) throw new Error(`the server responded with status ${answer.status}`);
    const found = await answer.json();
    if (request !== own) return; // another click was faster
    if (isRoute) showRoute(own.wanted, found);
    else showActor(own.wanted, found);
  } catch (failure) { // of the server or connection, a late answer, or an abort by another click
    if (request === own) set(byId('details-state'), 'not available: ' + failure.message);
  } finally {
    if (request === own) request = null;
  }
}

/** Shows the parts of the details that routes have, or the parts that actors have. */
function showParts(isRoute) {
  for (const id of ['actor-stacks', 'histories']) byId(id).hidden = isRoute;
  byId('route-failures').hidden = !isRoute;
}

const HIDDEN_TEXTS = 'Texts of exceptions are hidden; the option withMessageContents() shows them.';

const RECENT = 60_000; // milliseconds for which a failure is red
const isRecent = failure => statistics.time - Date.parse(failure.time) < RECENT;

/** Returns a line for an exchange: since when it is at work, the actor that it awaits, and the line of the user's code. */
function exchangeText(exchange, isAtWork) {
  const call = ownCall(exchange.stack);
  return (isAtWork ? `at work for ${duration(exchange.millis)}` : `seen at work for ${duration(exchange.millis)} at ${clock(exchange.time)}`)
    + ` · ${exchange.connection}` + (exchange.awaits ? ` · waits for '${exchange.awaits}'` : '') + (call ? ' · at ' + call : '');
}

/**
 * Returns the elements for the exchanges of a route at work, and for the longest that were seen within the last minute.
 * The times of all successes come before them if the route is slow.
 */
function exchangeElements(route, found, isSlow) {
  const rows = [...found.atWork.map(exchange => exchangeText(exchange, true)), ...found.seen.map(exchange => exchangeText(exchange, false))];
  const times = route?.p99Range && route.p99Range[0] !== null
    ? [made('p', '', `99 % of the recent successes within ${span(route.p99Range)}, the longest ${maximum(route.maxRange)}`)] : [];
  const elements = rows.length ? rows.map(text => made('p', '', text)) : [made('p', 'muted', 'no exchange is at work')];
  return isSlow ? [...times, ...elements] : [...elements, ...times];
}

/** Shows the exchanges of a route, and its last failures: of the statuses 503, 504, and others of 500 or above. */
function showRoute(wanted, found) {
  const {failures} = found;
  showParts(true);
  const route = statistics.panels.find(panel => panel.routes && panel.title === wanted.panel)?.routes
    .find(other => other.route === wanted.route);
  const counts = route ? `${number(route.serverErrors)} 5xx · ${number(route.unavailable)} 503 · ${number(route.timedOut)} 504` : '';
  set(byId('details-state'), [wanted.panel, route?.problems ? routeMark(route) + ' ' + routeProblems(wanted.panel, route) : '', counts].filter(Boolean).join(' · '));
  const hasAny = problems => problems.some(problem => route?.problems?.includes(problem));
  const isSlow = hasAny(['slow', 'stuck']);
  // the stack of a timeout is of the asker; the exchange names the actor that did not reply
  const isLate = isSlow || hasAny(['timing out', 'failing']) && found.atWork.length + found.seen.length > 0;
  const said = JSON.stringify([found, isSlow, isLate, failures.map(isRecent), route?.p99Range, route?.maxRange]);
  if (byId('route-failures').dataset.said === said) return; // so that selected text stays selected
  byId('route-failures').dataset.said = said;
  const elementsOf = shown => shown.flatMap(failure => {
    const call = ownCall(failure.stack);
    const text = `last ${failure.status} at ${clock(failure.time)}: ${failure.type}`
      + (failure.message === undefined ? '' : ': ' + failure.message) + (call ? ' · at ' + call : '')
      + (failure.number === undefined ? '' : ` · failure ${failure.number} in the log`);
    const stack = made('pre', '', failure.stack.length ? frames(failure.stack) : 'the exception has no stack');
    stack.tabIndex = 0;
    stack.setAttribute('aria-label', 'Stack of the exception');
    return [made('p', isRecent(failure) ? 'bad' : 'muted', text), stack];
  });
  const recent = elementsOf(failures.filter(isRecent));
  const exchanges = exchangeElements(route, found, isSlow);
  byId('route-failures').replaceChildren(...(isLate ? [...exchanges, ...recent] : [...recent, ...exchanges]),
    ...elementsOf(failures.filter(failure => !isRecent(failure))),
    ...(failures.length ? [] : [made('p', 'muted', 'no exception has caused a status of 500 or above')]));
  if (failures.length && !statistics.texts) byId('route-failures').append(made('p', 'muted', HIDDEN_TEXTS));
}

function showActor(wanted, actor) {
  showParts(false);
  set(byId('details-state'), describe(actor));
  const call = ownCall(actor.stack ?? []);
  byId('stack-call').hidden = call === '';
  set(byId('stack-call'), 'at ' + call);
  byId('stack').hidden = !actor.stack?.length && actor.lastFailure !== undefined; // the failure is first
  set(byId('stack'), actor.stack?.length ? frames(actor.stack) : 'no handler runs, or its stack is not known');
  const failure = actor.lastFailure;
  byId('failure').hidden = failure === undefined;
  set(byId('failure-hint'), statistics.texts ? '' : HIDDEN_TEXTS);
  if (failure) {
    const failedCall = ownCall(failure.stack);
    set(byId('failure-text'), `last failure at ${clock(failure.time)}: ${failure.type}`
      + (failure.message === undefined ? '' : ': ' + failure.message) + (failedCall ? ' · at ' + failedCall : ''),
      isRecent(failure) ? 'bad' : 'muted');
    set(byId('failure-stack'), failure.stack.length ? frames(failure.stack) : 'the exception has no stack');
  }
  showCharts(actor.history ?? [], histories.get(actorKey(wanted.scope, wanted.name))?.points ?? []);
}

/** Shows the points that the server has of an actor with problems, and then the points of this page. */
function showCharts(serverPoints, pagePoints) {
  const first = pagePoints[0]?.time ?? Infinity;
  const points = [...serverPoints.map(point => ({...point, time: statistics.time - 1000 * point.secondsAgo}))
    .filter(point => point.time < first), ...pagePoints];
  const millis = points.length < 2 ? 0 : points.at(-1).time - points[0].time;
  for (const chart of charts) {
    const values = chart.values(points);
    set(chart.range, values.length ? range(values, Math.round(millis / 1000) * 1000, chart.text) : 'not known yet');
    showCurve(chart.curve, values, points.slice(1).map(point => point.time));
  }
}

/** Shows the details of an actor or route; of none if null is given. */
function select(choice) {
  selected = choice;
  showRows();
  showServers(statistics.panels.filter(panel => panel.routes));
  showLoading();
  showDetails();
}

byId('details-close').addEventListener('click', () => select(null));
addEventListener('keydown', event => {
  if (event.key === 'Escape' && selected) select(null);
});

// ---- the filter

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
      pair.append(made('dt', '', reason.replaceAll('_', ' ')), made('dd'));
      list.append(pair);
    }
    set(pair.lastChild, number(count), count ? 'some' : 'zero');
    set(pair.firstChild, reason.replaceAll('_', ' '), count ? '' : 'zero');
  }
}

/** Returns the time of day of the browser's place, after the date if that is not today. */
function clock(text) {
  const time = new Date(text);
  const isToday = time.toDateString() === new Date().toDateString();
  return (isToday ? '' : time.toLocaleDateString('sv') + ' ') + time.toLocaleTimeString('sv');
}

/** @param isPartial returns whether older letters may be forgotten, so that the count of an item is a lower bound */
function showList(list, items, none, isPartial, text) {
  const said = JSON.stringify(items.map(item => [item, isPartial(item)])) + new Date().toDateString(); // times of other days have a date
  if (list.dataset.said === said) return; // so that selected text stays selected
  list.dataset.said = said;
  list.replaceChildren(...(items.length ? items.map(item => {
    const [what, detail] = text(item);
    const entry = made('li');
    const first = made('div', 'first');
    const times = (isPartial(item) ? 'at least ' : '') + (item.count === 1 ? 'once' : number(item.count) + ' times');
    first.append(made('bdi', '', what), made('span', 'times', times + (item.last ? ' · ' + clock(item.last) : '')));
    if (isPartial(item)) entry.title = 'Older letters were forgotten, so there may have been more';
    entry.append(first);
    if (detail) entry.append(made('div', 'detail', detail));
    return entry;
  }) : [made('li', 'none', none)]));
}

// ---- panels: values of the program, stores, nodes, and the routes of servers

function newPanel() {
  const head = made('div', 'head');
  head.append(made('h2'), made('p', 'state'));
  const section = made('section', 'panel');
  section.append(head, made('dl', 'values'));
  byId('panels').append(section);
  return section;
}

function newValue(list) {
  const pair = made('div');
  pair.append(made('dt'), made('dd'));
  list.append(pair);
  return pair;
}

function showPanels(panels) {
  const box = byId('panels');
  panels.forEach((panel, i) => {
    const [head, list] = (box.children[i] ?? newPanel()).children;
    set(head.firstChild, panel.title);
    if (panel.problems) set(head.lastChild, panel.problems.length ? '▲ ' + panel.problems.join(', ') : '✓',
      panel.problems.length ? 'state bad' : 'state');
    const values = Object.entries(panel.values);
    values.forEach(([name, value], j) => {
      const pair = list.children[j] ?? newValue(list);
      set(pair.firstChild, name);
      set(pair.lastChild, value === null ? '–' : typeof value === 'number' ? number(value) : String(value));
    });
    while (list.children.length > values.length) list.lastChild.remove();
  });
}

const brief = new Intl.NumberFormat('en', {notation: 'compact', maximumSignificantDigits: 3});
const count = (value, className = '') => [value < 10000 ? number(value) : brief.format(value), value ? className : 'zero'];
const upTo2 = new Intl.NumberFormat('en', {maximumFractionDigits: 2});
const bound = millis => millis < 1000 ? upTo2.format(millis) + ' ms' : upTo2.format(millis / 1000) + ' s';

/** Returns the bounds of a bucket of times in milliseconds; null: there is no bound, or no time. */
function span([from, to]) {
  if (from === null) return '–';
  if (to === null) return '> ' + bound(from);
  if (from === 0) return '≤ ' + bound(to);
  return (to < 1000 ? upTo2.format(from) : upTo2.format(from / 1000)) + '–' + bound(to);
}
const maximum = ([from, to]) => span(to === null ? [from, to] : [0, to]);
const BUCKETS = 'Of responses with a status of 200 to 299. The server counts times in buckets, and the time lies between the bounds of its bucket.';
/** Returns the problems of a route, each with its share and the time of the last error, or when a slow response was seen last. */
const routeProblems = (panel, route) => route.problems.map(problem => (problem !== 'stuck' && isOver(route, problem) ? overText(route, problem)
  : timed([problem], route.route, route.endedMillisAgo, route.maxWorkMillis) + shareOf(panel, route, problem, ': ')) + lastOf(route, problem)).join(', ');
const lastOf = (route, problem) => route.lastMillisAgo?.[problem] === undefined ? ''
  : ` (${lastTime(route.lastAt?.[problem], route.route + problem, route.lastMillisAgo[problem])})`;
/** Returns the style of a route: red, or gray if all its problems are over. */
const routeClass = route => !route.problems ? '' : route.problems.every(problem => isOver(route, problem)) ? 'muted' : 'bad';
const routeMark = route => routeClass(route) === 'bad' ? '▲' : '△';
/** Returns whether the process was paused in the time of the server's rates, so that an exchange may be as long. */
const wasPaused = server => pauses.some(pause => statistics.time - pause.end < (server?.recentMillis ?? 0));
/** Returns the time of which the rates of routes are. */
const period = millis => millis < 10_000 ? 'the first seconds' : 'the last ' + (millis >= 30_000 && millis <= 60_000 ? '30–60 s'
  : millis < 120_000 ? Math.floor(millis / 10_000) * 10 + ' s' : duration(millis));
const marked = (route, problem) => route.problems?.includes(problem) && !isOver(route, problem) ? 'bad' : '';
const routeColumns = [
  {title: 'Route', size: 'route', cell: (route, server) => [route.problems ? `${routeMark(route)} ${route.route} · ${routeProblems(server.title, route)}` : route.route, routeClass(route)]},
  {title: 'Per second', size: 'rate', cell: route => [rate(route.perSecond), route.perSecond ? '' : 'zero']},
  {title: 'At work', detail: true, size: 'work', hint: 'Exchanges whose handlers are at work, and for how long at least the first of them.',
    cell: route => [number(route.working) + (route.maxWorkMillis >= 1000 ? ' · ' + duration(route.maxWorkMillis) : ''),
      marked(route, 'stuck') || (route.working ? '' : 'zero')]},
  {title: '2xx', detail: true, size: 'count', cell: route => count(route.successful)},
  {title: '3xx', detail: true, rare: true, size: 'count', cell: route => count(route.redirected)},
  {title: '4xx', detail: true, size: 'count', cell: route => count(route.clientErrors)},
  {title: '5xx', size: 'count', hint: 'Without 503 and 504. Red: at least 1 % of the recent responses.',
    cell: route => count(route.serverErrors, marked(route, 'failing'))},
  {title: '503', size: 'count', hint: 'The server, a full mailbox or an open circuit breaker refused the request.',
    cell: route => count(route.unavailable, marked(route, 'unavailable'))},
  {title: '504', rare: true, size: 'count', hint: 'In most cases, the limit of a request to an actor was over.',
    cell: route => count(route.timedOut, marked(route, 'timing out'))},
  {title: 'Sockets', detail: true, rare: true, size: 'count', cell: route => count(route.openWebSockets)},
  {title: 'p50', hint: BUCKETS, detail: true, size: 'span', cell: route => [span(route.p50Range), '']},
  {title: 'p99', hint: BUCKETS, size: 'p99', cell: route => [span(route.p99Range), '']},
  {title: 'Max', hint: BUCKETS + ' Not red after a pause of the process, which delays exchanges.', size: 'max',
    cell: (route, server) => [maximum(route.maxRange), wasPaused(server) ? '' : marked(route, 'slow')]},
];

/** Makes a row with a cell for each column of the routes. */
function newRouteLine(isHead) {
  const tr = made('tr');
  routeColumns.forEach((column, i) => {
    const cell = made(isHead || i === 0 ? 'th' : 'td');
    if (isHead || i === 0) cell.scope = isHead ? 'col' : 'row';
    if (!isHead && i === 0) cell.append(made('button', 'name'));
    tr.append(cell);
  });
  return tr;
}

const cellClass = (i, className) =>
  [i ? 'number' : '', className, routeColumns[i].size, routeColumns[i].detail ? 'detail' : ''].filter(Boolean).join(' ');

function newServer() {
  const head = made('div', 'head');
  head.append(made('h2'), made('p', 'muted'));
  const table = made('table');
  const heads = newRouteLine(true);
  routeColumns.forEach((column, i) => {
    set(heads.cells[i], column.title, cellClass(i, 'muted'));
    if (column.hint) heads.cells[i].title = column.hint;
  });
  const thead = made('thead');
  thead.append(heads);
  table.append(made('caption', '', 'Counts since the server was opened. Rates and times of the last 30 to 60 seconds, or as the line above tells. A click on a route shows its last failures.'),
    thead, made('tbody'));
  const scroll = made('div', 'scroll');
  scroll.append(table);
  const section = made('section', 'panel routes');
  section.append(head, scroll);
  byId('servers').append(section);
  return section;
}

byId('servers').addEventListener('click', event => {
  const place = event.target.closest('tbody tr')?.place;
  if (place) select(selected?.panel === place.panel && selected.route === place.route ? null : place);
});

function showServers(servers) {
  servers.forEach((server, i) => {
    const [head, scroll] = (byId('servers').children[i] ?? newServer()).children;
    set(head.firstChild, server.title);
    const routes = server.routes.length < server.routeCount
      ? `the ${server.routes.length} busiest of ${number(server.routeCount)} routes`
      : counted(server.routeCount, 'route');
    set(head.lastChild, [`${number(server.working)} of ${number(server.maxExchanges)} exchanges at work`,
      server.waiting ? number(server.waiting) + ' waiting for clients' : '', counted(server.connections, 'connection'),
      server.cutOff ? counted(server.cutOff, 'client') + ' cut off' : '', routes, 'rates of ' + period(server.recentMillis)].filter(Boolean).join(' · '));
    const table = scroll.firstChild;
    const body = table.tBodies[0];
    // a rare column, such as that of WebSockets, is hidden if it has only zeros
    const hidden = routeColumns.map(column => column.rare && server.routes.every(route => column.cell(route, server)[1] === 'zero'));
    hidden.forEach((isHidden, k) => table.tHead.rows[0].cells[k].hidden = isHidden);
    server.routes.toSorted(byRouteProblem).forEach((route, j) => {
      if (!body.rows[j]) body.append(newRouteLine(false));
      hidden.forEach((isHidden, k) => body.rows[j].cells[k].hidden = isHidden);
      routeColumns.forEach((column, k) => {
        const [text, className] = column.cell(route, server);
        const cell = body.rows[j].cells[k];
        if (k === 0) set(cell.firstChild, text);
        set(cell, k === 0 ? cell.textContent : text, cellClass(k, className));
      });
      const rowClass = selected?.panel === server.title && selected.route === route.route ? 'selected' : '';
      if (body.rows[j].className !== rowClass) body.rows[j].className = rowClass;
      if (body.rows[j].title !== route.route) body.rows[j].title = route.route;
      body.rows[j].place = {panel: server.title, route: route.route};
    });
    while (body.rows.length > server.routes.length) body.lastChild.remove();
  });
}

// ---- topics

const topicColumns = [
  {title: 'Topic', cell: line => [line.name, '']},
  {title: 'Published', cell: line => line.published === undefined ? ['', ''] : count(line.published)},
  {title: 'Delivered', cell: line => count(line.delivered)},
  {title: 'Waiting', cell: line => line.waiting === null ? ['–', 'zero'] : count(line.waiting)},
  {title: 'Lost', cell: line => [(line.isLosing ? '▲ ' : '') + count(line.lost)[0], line.isLosing ? 'bad' : line.lost ? '' : 'zero']},
];
for (const column of topicColumns) {
  const cell = made('th', column.title === 'Topic' ? '' : 'number muted', column.title);
  cell.scope = 'col';
  byId('topic-columns').append(cell);
}

/** Shows a line for each topic, and below it a line for each of its subscribers. */
function showTopics(topics) {
  byId('topics').hidden = !topics.length;
  const lines = topics.flatMap(topic => [
    {...topic, type: 'scope', name: `${topic.title} · ${counted(topic.subscriberCount, 'subscriber')}`},
    ...topic.subscribers]);
  const body = byId('topic-rows');
  lines.forEach((line, i) => {
    if (!body.rows[i]) body.append(made('tr'));
    const tr = body.rows[i];
    if (tr.className !== (line.type ?? '')) tr.className = line.type ?? '';
    topicColumns.forEach((column, j) => {
      if (!tr.cells[j]) tr.append(made(j ? 'td' : 'th'));
      if (!j) tr.cells[0].scope = 'row';
      const [text, className] = column.cell(line);
      set(tr.cells[j], text, ((j ? 'number ' : '') + className).trim());
    });
  });
  while (body.rows.length > lines.length) body.lastChild.remove();
}

// ---- the stream

const MAX_LETTERS = 100; // dead letters of one reason that a scope keeps
const MAX_SILENCE = 5000; // milliseconds without data; the server sends a snapshot each second
let heard = Date.now(); // when the last data arrived
let isConnected = true;

/** Tells for how long no data has arrived, and marks all values as old. */
function showSilence() {
  const silence = Date.now() - heard;
  const isOld = !isConnected || silence >= MAX_SILENCE;
  document.body.classList.toggle('old', isOld);
  if (!isOld) return;
  const seconds = Math.floor(silence / 1000);
  set(byId('status'), `▲ ${isConnected ? '' : 'connection lost, '}no data for ${seconds < 60 ? seconds + ' s' : duration(silence)}`, 'bad');
  if (statistics) showAlarm(statistics, `no data since ${clock(statistics.time)}, the page shows the state of that time`);
  else setAlarm('▲', plain('no data has arrived'), 'bad');
}
setInterval(showSilence, 500);

function show(data) {
  statistics = data;
  heard = Date.now();
  isConnected = true;
  document.body.classList.remove('old');
  set(byId('scope'), data.scope);
  rememberPauses(data);
  showAlarm(data);
  set(byId('status'), data.closed ? '■ this scope has closed' : '● live', data.closed ? 'quiet' : 'live');
  cards.forEach(card => showCard(card, data));
  rememberActors(data.rows);
  showReasons(data.unhandled);
  showPanels(data.panels.filter(panel => panel.values));
  showTopics(data.panels.filter(panel => panel.subscribers));
  showServers(data.panels.filter(panel => panel.routes));
  const kept = {}; // letters by reason
  for (const letter of data.deadLetters) kept[letter.reason] = (kept[letter.reason] ?? 0) + letter.count;
  const isFull = letter => kept[letter.reason] >= MAX_LETTERS;
  showList(byId('cycles'), data.cycles, 'none in the dead letters', () => data.deadLetters.some(isFull), cycle => [cycle.names.join(' → ')]);
  showList(byId('letters'), data.deadLetters, 'none', isFull, letter =>
    [letter.actor, [letter.reason.replaceAll('_', ' '), letter.message, letter.cause].filter(Boolean).join(' · ')]);
  if (byId('filter').value.trim() === '') showRows();
  else filter();
  showDetails();
}

function listen() {
  const events = new EventSource('events');
  events.onmessage = event => show(JSON.parse(event.data));
  events.onerror = () => {
    isConnected = false;
    showSilence();
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 3000); // refused: the browser does not reconnect by itself
  };
}
listen();
