package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.cluster.Cluster;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pubsub.Topic;
import io.fibry.store.folder.FolderStore;
import io.fibry.support.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests in a browser how the page shows lost messages, routes of servers, stores and nodes. */
class PanelsPageTest extends PageFixture {
  private static final String LONG_NAME = "a-name-that-is-too-long-for-a-phone-and-for-most-other-screens";
  private static final int PHONE_WIDTH = 390;

  @TempDir
  Path folder;

  private final CountDownLatch entered = new CountDownLatch(1); // the handler of the first subscriber
  private final CountDownLatch gate = new CountDownLatch(1);
  private final Semaphore latest = new Semaphore(0); // a permit for each message that the second subscriber handled
  private final Topic<String> sold = Topic.open(scope.named("sold"));
  private HttpServer server;
  private FolderStore store;
  private Cluster cluster;

  @Override
  void openDashboard() throws Exception {
    server = HttpServer.open(scope.named("web"), 0,
        HttpRoutes.none().text("GET /orders", exchange -> "orders").text("GET /" + LONG_NAME, exchange -> "long")
            .text("GET /broken", exchange -> {
              throw new HttpException(502, "for a test");
            }),
        options -> options);
    store = FolderStore.open(folder);
    cluster = Cluster.local("shop");
    sold.subscribe(Mailbox.bounded(1, Overflow.DROP_OLDEST), message -> {
      entered.countDown();
      gate.await();
    });
    sold.subscribeToLatest(message -> latest.release());
    dashboard = Dashboard.open(scope, 0, options -> options.withRoutes("api", server).withTopic(sold)
        .withSlowLimit(Duration.ofHours(1)) // a slow response of a busy machine is no problem here
        .withStore(LONG_NAME, store).withCluster(cluster)
        .withPanel("Shop", () -> Map.of(LONG_NAME, LONG_NAME + LONG_NAME)));
  }

  @AfterEach
  @Override
  void close() throws Exception {
    gate.countDown();
    super.close();
    if (cluster != null) cluster.close();
    if (store != null) store.close();
  }

  private String route(String name) throws Exception {
    return chromium.value("[...document.querySelectorAll('.routes tbody tr')].find(row => row.title === "
        + JsonText.of(name) + ").innerText.replace(/\\s+/g, ' ')");
  }

  @Test
  void pageShowsRoutesStoresAndNodes() throws Exception {
    Web.get(server.port(), "/orders");
    show();
    chromium.until("statistics.panels[0].working === 0 "
        + "&& statistics.panels[0].routes.some(route => route.answered === 1 && route.working === 0)");

    assertTrue(route("GET /orders").matches("GET /orders [–0-9.]+ 0 1 0 0 0 .*"), route("GET /orders"));
    var head = chromium.value("document.querySelector('.routes .head .muted').innerText");
    assertTrue(head.matches("0 of 1,024 exchanges at work · \\d+ connections? · \\d routes · rates of the .*"), head);
    assertEquals("store " + LONG_NAME + ",node " + cluster.self().name() + " of shop,Shop",
        chromium.value("[...document.querySelectorAll('#panels h2')].map(head => head.textContent)"));
    assertEquals("✓,✓,", chromium.value("[...document.querySelectorAll('#panels .state')].map(p => p.textContent)"));
    assertEquals("good", chromium.value("byId('alarm').className"));
  }

  @Test
  void problemsOfRoutesAndNodesAreInAlarmLine() throws Exception {
    show();

    Web.get(server.port(), "/broken");
    cluster.close();
    chromium.until("statistics.panels[0].routes.some(route => route.serverErrors === 1) "
        + "&& document.querySelectorAll('#panels .state')[1].textContent === '▲ without lease, disconnected'");

    // in one script, because the route is failing only for a time
    var texts = chromium.value("(show({...statistics, panels: statistics.panels.map(panel => panel.routes ? {...panel, "
        + "routes: panel.routes.map(route => ({...route, problems: route.serverErrors ? ['failing'] : undefined, "
        + "lastMillisAgo: undefined, recent: {failing: {count: 1, of: 1, inMillis: 9000}}}))} "
        + ": panel)}), [byId('alarm').innerText.replaceAll(statistics.panels[3].title, 'node'), document.title, "
        + "document.querySelector('.routes tbody .bad').innerText].join('|'))");
    assertEquals("▲ node is without lease and disconnected · api GET /broken is failing (1 of 1 in 10 s)|"
        + "▲ app – Fibry dashboard|▲ GET /broken · failing: 1 of 1 in 10 s", texts);
  }

  @Test
  void timesOfRoutesAreShownAsBoundsOfBuckets() throws Exception {
    show();

    assertEquals("– | ≤ 0.05 ms | 0.25–0.5 ms | 25–50 ms | 0.5–1 s | 1–2.5 s | > 10 s",
        chromium.value("[[null, null], [0, 0.05], [0.25, 0.5], [25, 50], [500, 1000], [1000, 2500], [10000, null]]"
            + ".map(span).join(' | ')"));
    assertEquals("– | ≤ 2.5 s | > 10 s",
        chromium.value("[[null, null], [1000, 2500], [10000, null]].map(maximum).join(' | ')"));
    assertEquals("9,999 12.3K 123K", chromium.value("[9999, 12345, 123456].map(value => count(value)[0]).join(' ')"));
  }

  @Test
  void tablesOfRoutesAndTopicsCutNoCell() throws Exception {
    for (int width : new int[] {1200, PHONE_WIDTH}) {
      chromium.setSize(width, 800);
      show();
      // in one script, because the server sends a snapshot each second
      assertEquals("", chromium.value("(show({...statistics, panels: statistics.panels.map(panel => panel.routes ? "
          + "{...panel, routes: panel.routes.map(route => ({...route, perSecond: 12345, working: 12, "
          + "maxWorkMillis: 99000, successful: 99999, clientErrors: 99999, serverErrors: 9999, unavailable: 99999, "
          + "p50Range: [100, 250], p99Range: [100, 250], maxRange: [100, 250], problems: ['unavailable', 'slow'], "
          + "lastMillisAgo: {unavailable: 0}}))} "
          + ": panel)}), [...document.querySelectorAll('.routes td, .routes th, .topics td, .topics th')]"
          + ".filter(e => e.offsetWidth && e.scrollWidth > e.clientWidth).map(e => e.innerText).join('|'))"),
          "at a width of " + width);
    }
  }

  @Test
  void topicsTableMarksSubscriberThatLosesMessages() throws Exception {
    show();
    chromium.until("byId('topic-rows').rows.length === 3");
    for (int i = 0; i < 9; i++) {
      sold.publish("hat");
      Patience.await(entered);
      Patience.acquire(latest); // otherwise the next message could replace this one
    }

    chromium.until("byId('topic-rows').rows[1].cells[4].textContent.endsWith('7') "
        + "&& byId('topic-rows').rows[2].cells[2].textContent === '9' "
        + "&& byId('topic-rows').rows[2].cells[3].textContent === '0'");
    // the mark lasts for a minute
    assertEquals("sold · 2 subscribers 9 18 1 7,sold/1 9 1 7,sold/2 9 0 0", chromium.value(
        "[...byId('topic-rows').rows].map(row => row.innerText.replace(/[\\s▲]+/g, ' ').trim()).join()"));
    assertEquals("▲ 7,bad", chromium.value("topicColumns[4].cell({lost: 7, isLosing: true})"));
  }

  @Test
  void lostMessagesAreRefusedOrDropped() throws Exception {
    show();

    // in one script, because the server sends a snapshot each second
    assertEquals("▲ 1 full: till (refused 7 and dropped 1,000 in 70 s)|▲ 1,007|7 refused · 1,000 dropped"
        + "|▲ full: refused 7 and dropped 1,000 in 70 s · idle|▲ full: dropped 3 in 10 s · idle"
        + "|▲ full: senders wait · idle|▲ full: refuses · idle|▲ full: refuses · idle|▲ full: drops the oldest · idle",
        chromium.value("(show({...statistics, problems: {...statistics.problems, full: 1}, rows: ["
            + "{...statistics.rows[0], name: 'till', refused: 7, dropped: 1000, doing: 'idle', problems: ['full'], "
            + "refusedRecently: 7, droppedRecently: 1000, lostInMillis: 61000}]}), [byId('alarm').innerText, "
            + "byId('rows').rows[1].cells[8].innerText, byId('rows').rows[1].cells[8].title, "
            + "byId('rows').rows[1].cells[2].innerText, "
            + "does({...statistics.rows[0], name: 'till0', refusedRecently: 0, droppedRecently: 3, lostInMillis: 9000})[0], "
            + "...['block', 'reject', 'drop_newest', 'drop_oldest'].map(overflow => does({...statistics.rows[0], "
            + "name: overflow, overflow, refusedRecently: undefined})[0])].join('|'))"));
  }

  @Test
  void slowRouteHasRedMaximum() throws Exception {
    show();

    assertEquals("p99 ,Max bad", chromium.value("routeColumns.filter(column => ['p99', 'Max'].includes(column.title))"
        + ".map(column => column.title + ' ' + column.cell({p99Range: [50, 100], maxRange: [1000, 2500], "
        + "problems: ['slow']})[1]).join()"));
  }

  @Test
  void phoneShowsRedMaximumOfSlowRouteAndCutsNoNumber() throws Exception {
    showAt(PHONE_WIDTH, 844);

    // in one script, because the server sends a snapshot each second
    assertEquals("0.25–0.5 ms,≤ 2.5 s|≤ 2.5 s|", chromium.value("(show({...statistics, panels: statistics.panels.map("
        + "panel => panel.routes ? {...panel, routes: [{...panel.routes[0], perSecond: 1234, serverErrors: 9999, "
        + "unavailable: 1234567, timedOut: 1470, p99Range: [0.25, 0.5], maxRange: [1000, 2500], problems: ['slow']}]} "
        + ": panel)}), (numbers => [numbers.slice(-2), numbers.filter(e => e.classList.contains('bad')), "
        + "[...document.querySelectorAll('.routes .number')].filter(e => e.offsetWidth && e.scrollWidth > "
        + "e.clientWidth)].map(cells => cells.map(e => e.innerText).join()).join('|'))("
        + "[...document.querySelectorAll('.routes tbody .number')].filter(e => e.offsetWidth)))"));
  }

  @Test
  void clickOnRouteShowsItsLastFailureUntilEscape() throws Exception {
    show();
    Web.get(server.port(), "/broken");
    chromium.until("statistics.panels[0].routes.some(route => route.serverErrors === 1)");

    chromium.value("[...document.querySelectorAll('.routes tbody tr')].find(row => row.title === 'GET /broken')"
        + ".cells[1].click()");

    chromium.until("byId('route-failures').innerText.includes('PanelsPageTest.java')");
    assertEquals("GET /broken", chromium.value("byId('details-name').innerText"));
    assertTrue(
        chromium.value("byId('details-state').innerText").matches("api( · ▲ failing.*)? · 1 5xx · 0 503 · 0 504"));
    var text = chromium.value("document.querySelector('#route-failures .bad').innerText");
    assertTrue(text.matches("last 502 at (20[-0-9]+ )?[0-9:]{8}: io\\.fibry\\.net\\.HttpException · at "
        + "io\\.fibry\\.dashboard\\.PanelsPageTest\\..*\\(PanelsPageTest\\.java:\\d+\\) "
        + "· failure [0-9a-f]{8} in the log"), text);
    assertEquals("GET /broken,true,false", chromium.value("[document.querySelector('.routes tr.selected').title, "
        + "byId('actor-stacks').hidden, document.body.innerText.includes('for a test')]"));

    chromium.value("[...document.querySelectorAll('.routes .name')].find(name => name.textContent === 'GET /orders')"
        + ".click()");
    chromium.until("byId('route-failures').innerText.includes('no exchange is at work') "
        + "&& byId('route-failures').innerText.endsWith('no exception has caused a status of 500 or above')");
    chromium.value("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))");
    assertEquals("true,0", chromium.value("[byId('details').hidden, document.querySelectorAll('tr.selected').length]"));
  }

  @Test
  void detailsOfLateRouteBeginWithItsExchangesAndOldFailureIsNotRed() throws Exception {
    show();

    // in one script, because the server sends a snapshot each second
    var texts = chromium.value("(() => { const route = statistics.panels[0].routes[0]; Object.assign(route, "
        + "{problems: ['slow'], p99Range: [1000, 2500], maxRange: [1000, 2500]}); selected = {panel: 'api', "
        + "route: route.route}; const stack = ['java.base/java.lang.Object.wait(Object.java:1)', 'app//Shop.ask("
        + "Shop.java:55)']; const failure = {status: 504, type: 'E', stack}; const shown = () => (showRoute(selected, "
        + "{atWork: [{connection: 'web/7', millis: 1300, awaits: 'stock', stack}], seen: [{connection: 'web/2', "
        + "millis: 2400, time: 0, stack}], failures: [{...failure, time: statistics.time - 59000}, {...failure, "
        + "time: statistics.time - 200000}].map(f => ({...f, time: new Date(f.time).toISOString()}))}), "
        + "[...byId('route-failures').querySelectorAll('p')].map(p => p.className + ':' + p.innerText)); "
        + "return ['slow', 'timing out', 'failing', 'unavailable'].flatMap((problem, i) => (route.problems = [problem], "
        + "i ? shown()[0] : shown())).join('\\n'); })()");
    assertEquals(":99 % of the recent successes within 1–2.5 s, the longest ≤ 2.5 s|"
        + ":at work for 1.3 s · web/7 · waits for 'stock' · at Shop.ask(Shop.java:55)|"
        + ":seen at work for 2.4 s at TIME · web/2 · at Shop.ask(Shop.java:55)|"
        + "bad:last 504 at TIME: E · at Shop.ask(Shop.java:55)|muted:last 504 at TIME: E · at Shop.ask(Shop.java:55)|"
        + "muted:Texts of exceptions are hidden; the option withMessageContents() shows them.|"
        + ":at work for 1.3 s · web/7 · waits for 'stock' · at Shop.ask(Shop.java:55)|".repeat(2)
        + "bad:last 504 at TIME: E · at Shop.ask(Shop.java:55)",
        texts.replaceAll("([0-9]{4}-[-0-9]+ )?[0-9]{2}:[0-9]{2}:[0-9]{2}", "TIME").replace('\n', '|'));
  }

  @Test
  void detailsOfTimedOutRouteWithoutExchangesBeginWithItsFailure() throws Exception {
    show();

    // in one script, because the server sends a snapshot each second
    assertEquals("bad,", chromium.value("(() => { const route = statistics.panels[0].routes[0]; route.problems = "
        + "['timing out']; selected = {panel: 'api', route: route.route}; showRoute(selected, {atWork: [], seen: [], "
        + "failures: [{status: 504, type: 'E', stack: [], time: new Date(statistics.time).toISOString()}]}); "
        + "return [...byId('route-failures').children].slice(0, 2).map(e => e.className); })()"));
  }

  @Test
  void panelsFitWidthOfPhoneBeforeActors() throws Exception {
    scope.named(LONG_NAME).newActor((String text) -> {});
    chromium.setSize(PHONE_WIDTH, 800);
    show();
    Web.get(server.port(), "/broken");
    chromium.until("statistics.panels[0].routes.some(route => route.serverErrors === 1)");
    chromium.value("document.querySelector('#rows tr:last-child .name').click()");

    assertEquals("" + PHONE_WIDTH, chromium.value("document.documentElement.scrollWidth"));
    assertEquals("", chromium.value("[...document.querySelectorAll('header, section, table, th, td, dd, #alarm')]"
        + ".filter(e => e.offsetWidth && e.getBoundingClientRect().right > " + PHONE_WIDTH + ")"
        + ".map(e => e.tagName + ' ' + e.className + ' ' + e.innerText)"));
    assertEquals("true", chromium.value("document.querySelector('.routes').getBoundingClientRect().top"
        + " < document.querySelector('.actors').getBoundingClientRect().top"));
  }
}
