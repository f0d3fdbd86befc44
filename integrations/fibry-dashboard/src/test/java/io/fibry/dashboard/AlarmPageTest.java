package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests in a browser the alarm line with its links, and what the page shows if no data arrives. The
 * clock of the dashboard is paused, so the server sends a snapshot only when a test wants one.
 */
class AlarmPageTest extends PageFixture {
  /** Makes rows of the first actor with other names and values, and counts their problems. */
  private static final String SHOW_ROWS_SCRIPT =
      "window.showRowsOf = rows => show({...statistics, rows: rows.map(row => "
          + "({...statistics.rows[0], group: undefined, ...row})), problems: Object.fromEntries(Object.keys("
          + "statistics.problems).map(kind => [kind, rows.filter(row => row.problems?.includes(kind)).length]))})";
  private static final String ALARM_SCRIPT = "byId('alarm').innerText";

  private final ManualScheduler clock = new ManualScheduler();

  @Override
  void openDashboard() {
    scope.named("till").newActor((String text) -> {});
    var server = HttpServer.open(scope.named("web"), 0, HttpRoutes.none().text("GET /a", exchange -> "a")
        .text("GET /b", exchange -> "b"), options -> options);
    dashboard = Dashboard.open(scope, 0, options -> options.withRoutes("api", server), clock);
  }

  @BeforeEach
  void showPage() throws Exception {
    show();
    chromium.value(SHOW_ROWS_SCRIPT);
  }

  @Test
  void pageTellsForHowLongNoDataHasArrived() throws Exception {
    chromium.until("/^▲ no data for \\d+ (s|min)$/.test(byId('status').innerText)");
    var alarm = chromium.value(ALARM_SCRIPT);
    assertTrue(alarm.matches("▲ no data since (20[-0-9]+ )?[0-9:]{8}, the page shows the state of that time"), alarm);
    assertEquals("true,▲ app – Fibry dashboard", chromium.value("[Number(getComputedStyle(document.querySelector("
        + "'main')).opacity) < 0.6, document.title]"));

    DashboardTest.advance(clock, Duration.ofSeconds(1));
    chromium.until("byId('status').innerText === '● live' && byId('alarm').className === 'good' "
        + "&& getComputedStyle(document.querySelector('main')).opacity === '1'");
  }

  @Test
  void timeWithoutDataCounts() throws Exception {
    assertEquals("● live|▲ no data for 12 s|▲ no data for 59 s|▲ no data for 2 min", chromium.value("[4900, 12000, "
        + "59900, 120000].map(silence => (show(statistics), heard = Date.now() - silence, showSilence(), "
        + "byId('status').innerText)).join('|')"));
  }

  @Test
  void pageTellsThatConnectionIsLost() throws Exception {
    dashboard.close();

    chromium.until("/^▲ connection lost, no data for \\d+ s$/.test(byId('status').innerText)");
  }

  @Test
  void stuckTimeStaysIfDataArriveLate() throws Exception {
    assertEquals("true", chromium.value("(([one, other]) => one === other && one.includes('stuck since '))("
        + "[0, 4000].map(millis => (statistics.time += millis, showRowsOf([{problems: ['stuck'], "
        + "busyMillis: 20000 + millis}]), byId('rows').rows[1].cells[2].innerText)))"));
  }

  @Test
  void alarmsBeginWithStuckActorsAndEndWithRoutes() throws Exception {
    assertEquals("▲ 2 stuck: db, till · api GET /b is stuck · 1 full: db (senders wait) · 1 growing: shop"
        + " · api GET /a is failing and slow · 1 no longer stuck: bank",
        chromium.value("(statistics.panels[0].routes.forEach(route => route.problems = route.route === 'GET /a' "
            + "? ['failing', 'slow'] : ['stuck']), showRowsOf([{name: 'shop', problems: ['growing']}, "
            + "{name: 'till', problems: ['stuck']}, {name: 'db', overflow: 'block', problems: ['stuck', 'full']}, "
            + "{name: 'bank', problems: ['stuck'], endedMillisAgo: {stuck: 5000}}]), " + ALARM_SCRIPT + ")"));
  }

  @Test
  void expiringActorHasCountOfRequests() throws Exception {
    assertEquals("▲ 1 expiring: stock (42 requests in 70 s)|▲ expiring: 42 requests in 70 s · handles a",
        chromium.value("(showRowsOf([{name: 'stock', doing: 'handles a', problems: ['expiring'], expiredRecently: 42, "
            + "expiredInMillis: 65000}]), [" + ALARM_SCRIPT + ", byId('rows').rows[1].cells[2].innerText].join('|'))"));
  }

  @Test
  void routeWithHighestShareOfErrorsIsFirst() throws Exception {
    // a route that fails seldom, a route that always times out, and slow routes
    var routes = "[['GET /seldom', 'failing', 12, 711], ['GET /slow', 'slow', 9, 9], ['GET /fine'], "
        + "['GET /over', 'timing out', 60, 60, 40000], ['GET /always', 'timing out', 60, 60], "
        + "['GET /half', 'unavailable', 30, 60], ['GET /busy', 'unavailable', 31, 60]]";
    assertEquals("▲ api GET /always is timing out (60 of 60 in 70 s) · api GET /busy is unavailable (31 of 60 in 70 s)"
        + " · api GET /half is unavailable (30 of 60 in 70 s) · api GET /seldom is failing (12 of 711 in 70 s)"
        + " · api GET /slow is slow (9 of 9 in 70 s) · api GET /over has not timed out for 40 s|"
        + "/always,/busy,/half,/seldom,/slow,/over,/fine|▲ GET /always · timing out: 60 of 60 in 70 s (last seen TIME)|"
        + "△ GET /over · has not timed out for 40 s (last seen TIME)",
        chromium.value("(" + routes
            + ".map(([route, problem, count, of, over], i) => ({...statistics.panels[0].routes[0], "
            + "route, perSecond: route === 'GET /busy' ? 9 : 1, ...problem ? {problems: [problem], recent: over ? {} : "
            + "{[problem]: {count, of, inMillis: 61000}}, lastMillisAgo: {[problem]: 1000}, endedMillisAgo: over && "
            + "{[problem]: over}} : {}})).forEach((route, i) => statistics.panels[0].routes[i] = route), showRowsOf([{}]), "
            + "(rows => [" + ALARM_SCRIPT + ", rows.map(row => row.title.slice(4)), rows[0].cells[0].innerText, "
            + "rows[5].cells[0].innerText].join('|'))([...document.querySelectorAll('.routes tbody tr')]))")
            .replaceAll("last seen (20[-0-9]+ )?[0-9:]{8}", "last seen TIME"));
  }

  @Test
  void blockedActorIsNamedAtEndAndIsNoAlarm() throws Exception {
    assertEquals("▲ 1 stuck: stock · 1 growing: shop · 1 blocked: packer (waits for stock)|bad|"
        + "△ 1 blocked: packer (waits for stock)|warn|true|warn",
        chromium.value("(blocked => [[{name: 'shop', problems: ['growing']}, {name: 'stock', problems: ['stuck']}, "
            + "blocked], [blocked]].flatMap(rows => (showRowsOf(rows), [" + ALARM_SCRIPT
            + ", byId('alarm').className])).concat(does(statistics.rows[0]).map((text, i) => i ? text "
            + ": /^△ blocked since [-0-9: ]+ · waits for 'stock'$/.test(text))).join('|'))({name: 'packer', "
            + "problems: ['blocked'], busyMillis: 60000, awaits: 'stock', doing: \"waits for 'stock'\"})"));
  }

  @Test
  void alarmAndRowKeepSameCountsForTenSeconds() throws Exception {
    var refused = ".match(/refused [^)·]*/)[0].trim()";
    assertEquals("refused 1 in 10 s=refused 1 in 10 s,refused 1 in 10 s=refused 1 in 10 s,"
        + "refused 3 in 20 s=refused 3 in 20 s",
        chromium.value("[[1, 0], [2, 9000], [3, 10000]].map(([refusedRecently, millis]) => (statistics.time = "
            + "1000000 + millis, showRowsOf([{name: 'db', problems: ['full'], refusedRecently, "
            + "droppedRecently: 0, lostInMillis: 10000 + millis / 10}]), " + ALARM_SCRIPT + refused
            + " + '=' + byId('rows').rows[1].cells[2].innerText" + refused + ")).join()"));
  }

  @Test
  void stuckActorsSeldomChangePlaces() throws Exception {
    assertEquals("2 stuck: a, b", chromium.value("[...new Set([1, 3, 5, 7, 9, 11].map(seconds => (showRowsOf([["
        + "'b', 0], ['a', 5]].map(([name, more]) => ({name, problems: ['stuck'], busyMillis: 1000 * (30 + seconds "
        + "+ more)}))), " + ALARM_SCRIPT + ".slice(2).replaceAll(/ \\(since [^)]*\\)/g, ''))))].join('|')"));
  }

  @Test
  void alarmCountsProblemsThatItDoesNotName() throws Exception {
    assertEquals("▲ 9 stuck: a1, a2, a3, a4, a5, a6, 3 more|a7",
        chromium.value("(showRowsOf([1, 2, 3, 4, 5, 6, 7, 8, 9]"
            + ".map(i => ({name: 'a' + i, problems: ['stuck']}))), [" + ALARM_SCRIPT
            + ", byId('alarm').lastChild.place.name].join('|'))"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1200, 390})
  void linkOfAlarmOpensActorAboveDetails(int width) throws Exception {
    chromium.setSize(width, 844);
    chromium.until("innerWidth === " + width);

    assertEquals("a90,false,true", chromium.value("(showRowsOf(Array.from({length: 100}, (_, i) => ({name: 'a' + "
        + "(i + 10), problems: ['stuck']}))), byId('alarm').lastChild.place = {scope: 'app', name: 'a90'}, "
        + "byId('alarm').lastChild.click(), [document.querySelector('tr.selected .name').innerText, "
        + "byId('details').hidden, (row => row.top > 0 && row.bottom < innerHeight * 0.4)(document.querySelector("
        + "'#rows tr.selected').getBoundingClientRect())].join())"));
  }

  @Test
  void linkOfAlarmOpensRoute() throws Exception {
    assertEquals("GET /b", chromium.value("(statistics.panels[0].routes.at(-1).problems = ['slow'], showRowsOf([{}]), "
        + "byId('alarm').querySelector('a').click(), document.querySelector('.routes tr.selected').title)"));
    chromium.until("byId('details-name').innerText === 'GET /b'");
  }

  @Test
  void detailsShowNewNameAtOnceAndNoLateAnswer() throws Exception {
    chromium.value("select({panel: 'api', route: 'GET /a'})");
    chromium.until("byId('details').innerText.includes('no exchange is at work')");
    chromium.value("(window.answers = {}, window.fetch = address => new Promise(done => answers[address.split('?')[0]] "
        + "= found => done({ok: true, json: () => Promise.resolve(found)})))");
    var shown = "byId('details').innerText.split(/\\n+/).join('|')";

    assertEquals("GET /b|loading …|✕", chromium.value("(select({panel: 'api', route: 'GET /b'}), " + shown + ")"));
    assertEquals("till|loading …|✕", chromium.value("(select({scope: 'app', name: 'till'}), " + shown + ")"));
    chromium.value("answers.route({atWork: [], seen: [], failures: []})"); // of the first click
    chromium.value("answers.actor({...statistics.rows[0], name: 'till', stack: []})");
    chromium.until("!byId('details-state').innerText.startsWith('loading')");
    assertEquals("till,false,true",
        chromium.value("[byId('details-name').innerText, byId('actor-stacks').hidden, byId('route-failures').hidden]"));
    assertEquals("GET /a|loading …|✕", chromium.value("(select(null), select({panel: 'api', route: 'GET /a'}), "
        + shown + ")"));
  }

  @Test
  void detailsTellWhyTheyAreNotAvailable() throws Exception {
    chromium.value("(window.limits = [], window.timer = new AbortController(), AbortSignal.timeout = millis => "
        + "(limits.push(millis), timer.signal), window.fetch = (address, {signal}) => new Promise((_, fail) => "
        + "signal.addEventListener('abort', () => fail(signal.reason))))");
    var state = "byId('details-state').innerText";
    chromium.value("(select({panel: 'api', route: 'GET /b'}), select({scope: 'app', name: 'till'}))");
    assertEquals("loading …,5000,5000", chromium.value("[" + state + ", limits]"), "an abort by a click is no failure");
    chromium.value("timer.abort(new Error('signal timed out'))");
    chromium.until(state + " === 'not available: signal timed out' && request === null");

    chromium.value("(window.fetch = () => Promise.resolve({ok: false, status: 503}), showDetails())");
    chromium.until(state + " === 'not available: the server responded with status 503'");
  }

  @Test
  void ratesOfRoutesHaveTheirTime() throws Exception {
    assertEquals("the first seconds|the last 20 s|the last 30–60 s|the last 90 s|the last 3 min",
        chromium.value("[9999, 29999, 60000, 99999, 200000].map(period).join('|')"));
  }

  @Test
  void pauseOfProcessIsShownWithoutAlarmAndInCharts() throws Exception {
    var texts = chromium.value("(statistics.pause = {millis: 35000, millisAgo: 5000}, statistics.history = [120, 60, 0]"
        + ".map(secondsAgo => ({...statistics, secondsAgo})), [[], [{problems: ['stuck']}]].flatMap(rows => ("
        + "showRowsOf([{}, ...rows]), [" + ALARM_SCRIPT + ", byId('alarm').className])).concat(pauses.length, "
        + "cards[3].curve.querySelector('.pause').getAttribute('d')).join('|'))");
    assertEquals(
        "△ the process was paused for 35 s, until TIME|warn|▲ 1 stuck: till · the process was paused for 35 s, "
            + "until TIME|bad|1|M66.67,0H95.83V34H66.67Z",
        texts.replaceAll("([0-9]{4}-[-0-9]+ )?[0-9]{2}:[0-9]{2}:[0-9]{2}", "TIME"));
  }

  @Test
  void alarmBeginsWithSaturatedScheduler() throws Exception {
    assertEquals("▲ 122 virtual threads wait for a carrier since TIME · 1 stuck: till|1",
        chromium.value("(statistics.saturated = {queued: 122, millis: 8000}, showRowsOf([{problems: ['stuck']}]), ["
            + ALARM_SCRIPT + ", byId('alarm').querySelectorAll('.minor').length].join('|'))")
            .replaceAll("([0-9]{4}-[-0-9]+ )?[0-9]{2}:[0-9]{2}:[0-9]{2}", "TIME"));
  }

  @Test
  void saturatedSchedulerIsAlarmAfterOneMinute() throws Exception {
    assertEquals("△ warn,△ warn,▲ bad", chromium.value("[8000, 59999, 60000].map(millis => (statistics.saturated = "
        + "{queued: 122, millis}, showRowsOf([{}]), " + ALARM_SCRIPT + "[0] + ' ' + byId('alarm').className)).join()"));
  }

  @Test
  void endedProblemsAreGrayAndNoAlarm() throws Exception {
    var texts = chromium.value("(statistics.panels[0].routes.forEach(route => Object.assign(route, {timedOut: 7, "
        + "problems: ['timing out'], endedMillisAgo: {'timing out': 32000}, lastMillisAgo: {'timing out': 32000}})), "
        + "['failing', undefined].map(other => (statistics.panels[0].routes[0].problems.splice(0, 2, "
        + "...[other, 'timing out'].filter(Boolean)), showRowsOf([{}]), [" + ALARM_SCRIPT
        + ", byId('alarm').className, byId('alarm').querySelectorAll('.minor').length, "
        + "...[...document.querySelectorAll('.routes tbody tr')].map("
        + "row => [0, 8].map(i => row.cells[i].classList.contains('bad')))].join('|'))).join('~'))");
    assertEquals("▲ api A is failing and has not timed out for 30 s · api B has not timed out for 30 s|bad|1|true,"
        + "false|false,false~△ api A has not timed out for 30 s · api B has not timed out for 30 s|warn|0|false,false|"
        + "false,false",
        texts.replaceFirst("GET /.", "A").replaceFirst("GET /.", "B").replaceFirst("(?<=△ api )GET /.", "A")
            .replaceFirst("GET /.", "B"));
    assertEquals("has not timed out for 30 s (last 2026-01-02 03:04:05)",
        chromium.value("routeProblems('api', {route: 'x', "
            + "problems: ['timing out'], endedMillisAgo: {'timing out': 32000}, lastMillisAgo: {'timing out': 32000}, "
            + "lastAt: {'timing out': '2026-01-02T03:04:05.9'}})"));
  }

  @Test
  void routeTellsForHowLongEachProblemHasNotHappened() throws Exception {
    assertEquals("has not failed for 30 s,has not timed out for 40 s,has not been unavailable for 50 s,"
        + "has not been slow for 50 s,is no longer stuck",
        chromium.value("Object.entries({failing: 39999, "
            + "'timing out': 40000, unavailable: 59999, slow: 50000, stuck: 5000}).map(([problem, millis]) => "
            + "overText({endedMillisAgo: {[problem]: millis}}, problem)).join()"));
  }

  @Test
  void maximumThatPauseHasMadeIsNotRed() throws Exception {
    assertEquals("bad,", chromium.value("[100000, 5000].map(millis => (pauses = [{start: 0, end: statistics.time "
        + "- millis}], routeColumns.at(-1).cell({maxRange: [10000, null], problems: ['slow']}, "
        + "{recentMillis: 40000})[1]))"));
  }

  @Test
  void rateHasSameMaximumForPointsOfAllDistances() throws Exception {
    assertEquals("0.2,0.2", chromium.value("[1, 10].map(distance => Math.max(...perSecondOf('failed')(Array.from("
        + "{length: 60 / distance + 1}, (_, i) => ({time: 1000 * distance * i, failed: Math.floor(distance * i / 5)})))))"));
    assertEquals("2,2", chromium.value("[1, 10].map(distance => Math.round(Math.max(...tenSecondMeans("
        + "Array.from({length: 60 / distance + 1}, (_, i) => ({time: 1000 * distance * i, "
        + "value: distance === 1 ? i % 10 === 9 ? 20 : 0 : 2}))))))"));
  }

  @Test
  void rateContainsNothingFromBeforePauseOfProcess() throws Exception {
    // 9 in each second before the pause, and 0 after it
    assertEquals("9,9,9,0,0|0.9,1.8,0,0", chromium.value("(pauses = [{start: 3000, end: 6000}], times => ["
        + "tenSecondMeans(times.map((time, i) => ({time, value: i < 3 ? 9 : 0}))), "
        + "perSecondOf('failed')(times.map((time, i) => ({time, failed: 9 * Math.min(i, 2)})))"
        + "].map(values => values.join()).join('|'))([0, 1000, 2000, 6000, 7000])"));
  }

  @Test
  void curveHasGapWhileProcessWasPaused() throws Exception {
    assertEquals("M0.00,32.0L25.00,32.0M75.00,2.0L100.00,2.0|M0.00,34L0.00,32.0L25.00,32.0L25.00,34Z"
        + "M75.00,34L75.00,2.0L100.00,2.0L100.00,34Z",
        chromium.value("(pauses = [{start: 11000, end: 29000}], "
            + "showCurve(cards[0].curve, [0, 0, 9, 9], [0, 10000, 30000, 40000]), ['line', 'area'].map(part => "
            + "cards[0].curve.querySelector('.' + part).getAttribute('d')).join('|'))"));
    assertTrue(chromium.value("cards[0].curve.parentElement.title").startsWith("≤: the largest value"));
  }

  @Test
  void alarmTellsSinceWhenActorIsStuck() throws Exception {
    assertEquals("▲ 1 stuck: till (since TIME)", chromium.value("(showRowsOf([{name: 'till', problems: ['stuck'], "
        + "busyMillis: 60000}]), " + ALARM_SCRIPT + ")").replaceAll("([0-9]{4}-[-0-9]+ )?[0-9]{2}:[0-9]{2}:[0-9]{2}",
            "TIME"));
  }

  @Test
  void detailsOfTextTellOptionThatShowsIt() throws Exception {
    assertEquals("true,false", chromium.value("(select({scope: 'app', name: 'till'}), ['handles String', "
        + "'handles Order'].map(doing => describe({...statistics.rows[0], doing}).endsWith('texts of messages are "
        + "hidden; the option withMessageContents() shows them')))"));
  }

  @Test
  void detailsWithoutHandlerBeginWithFailureBelowTheirEdge() throws Exception {
    assertEquals("true,false,true", chromium.value("(select({scope: 'app', name: 'till'}), [{time: 0, type: 'E', "
        + "stack: []}, undefined].map(lastFailure => (showActor(selected, {...statistics.rows[0], doing: 'y '.repeat("
        + "300), stack: [], lastFailure}), byId('stack').hidden)).concat(byId('details-name').getBoundingClientRect()"
        + ".top - byId('details').getBoundingClientRect().top >= 6))"));
  }

  @Test
  void recentErrorOfRouteHasItsTime() throws Exception {
    var text = chromium.value("routeProblems('api', {route: 'x', problems: ['timing out', 'slow'], "
        + "lastMillisAgo: {'timing out': 9000, slow: 3000}, lastAt: {'timing out': '2026-01-02T03:04:05.9Z'}})");
    assertTrue(text.matches("timing out \\(last 2026-01-0. ..:.4:05\\), slow \\(last seen (20[-0-9]+ )?[0-9:]{8}\\)"),
        text);
  }

  @Test
  void phoneCutsNoNumberAndShowsProblemsBeforeCharts() throws Exception {
    chromium.setSize(390, 844);
    chromium.until("innerWidth === 390");

    var row = "busyMillis: 3000000, busyExact: false, waiting: 100000, oldestMillis: 3000000, failed: 1234567, "
        + "recentFailures: 3, failedInMillis: 60000, refused: 1234567, refusedRecently: 123456, droppedRecently: 0, "
        + "lostInMillis: 60000, ";
    assertEquals("|▲ 1.23M,100,000 · ≥ 50 min,▲ 1.23M|true|390", chromium.value("(showRowsOf([{name: 'session-17', "
        + row
        + "problems: ['failing', 'full']}, {name: 'web', waiting: 71, oldestMillis: 3000000, lost: 1234567}]), "
        + "[[...document.querySelectorAll('.actors .number')].filter(e => e.offsetWidth && e.scrollWidth > "
        + "e.clientWidth).map(e => e.innerText).join(), [7, 4, 8].map(i => byId('rows').rows[1].cells[i].innerText), "
        + "document.querySelector('.actors').getBoundingClientRect().top < byId('cards').getBoundingClientRect().top, "
        + "document.documentElement.scrollWidth].join('|'))"));
  }

  @Test
  void countOfForgottenLettersIsLowerBound() throws Exception {
    assertEquals("at least 29 times,at least 70 times,at least once,29 times,once",
        chromium.value("(show({...statistics, deadLetters: [['failed', 29], ['failed', 70], ['failed', 1], "
            + "['dropped', 29], ['dropped', 1]].map(([reason, count]) => ({actor: 'till', reason, count, "
            + "message: 'String', cause: ''}))}), "
            + "[...document.querySelectorAll('#letters .times')].map(e => e.innerText).join())"));
  }

  @Test
  void connectionThatWaitsForClientIsIdle() throws Exception {
    assertEquals("○ idle, waits for its client,idle", chromium.value("does({state: 'awaiting_step', doing: 'waits'})"));
  }

  @Test
  void detailsBeginWithLineOfOwnCodeAndOldFailureIsNotRed() throws Exception {
    assertEquals("false|at Shop9.askSupplier(Shop9.java:97)|bad|muted|true", chromium.value("(select({scope: 'app', "
        + "name: 'till'}), [59000, 61000].map(millis => (showActor(selected, {...statistics.rows[0], stack: ["
        + "'java.base@25/java.lang.Object.wait(Object.java:1)', 'app//Shop9.askSupplier(Shop9.java:97)'], lastFailure: {"
        + "time: new Date(statistics.time - millis).toISOString(), type: 'E', stack: []}}), [byId('stack-call').hidden, "
        + "byId('stack-call').innerText, byId('failure-text').className])).flatMap(([hidden, call, style], i) => i "
        + "? [style] : [hidden, call, style]).concat((showActor(selected, {...statistics.rows[0], stack: []}), "
        + "byId('stack-call').hidden)).join('|'))"));
  }

  @Test
  void detailsHaveTheirButtonInFirstLineAndTellWhyTextIsHidden() throws Exception {
    chromium.value("(select({scope: 'app', name: 'till'}), showActor(selected, {...statistics.rows[0], name: 'till', "
        + "awaits: 'x'.repeat(300), doing: 'y '.repeat(300), lastFailure: {time: 0, type: 'E', stack: []}}))");

    assertEquals("true|Texts of exceptions are hidden; the option withMessageContents() shows them.",
        chromium.value("[byId('details-close').getBoundingClientRect().bottom < "
            + "byId('details').getBoundingClientRect().top + 48, byId('failure-hint').innerText].join('|')"));
  }
}
