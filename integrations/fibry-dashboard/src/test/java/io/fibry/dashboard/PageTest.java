package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests the page of the dashboard in a browser. */
class PageTest extends PageFixture {
  private static final Duration HANDLING_LIMIT = Duration.ofMillis(100);
  private static final String HOSTILE = "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>";
  private static final String ROW_TEXT_SCRIPT = "[...document.querySelectorAll('#rows tr')]"
      + ".filter(row => row.cells[0].textContent === %s).map(row => row.innerText.replace(/\\s+/g, ' ')).join()";
  /** Returns the visible cells of numbers, of problems and of heads whose text is cut. */
  private static final String CUT_CELLS_SCRIPT = "[...document.querySelectorAll('.actors .number, .actors thead th, "
      + "tr.ill td:nth-child(3), .head p')].filter(e => e.offsetWidth && e.scrollWidth > e.clientWidth)"
      + ".map(e => e.innerText).join('|')";

  @Override
  void openDashboard() {
    dashboard = Dashboard.open(scope, 0, options -> options.withHandlingLimit(HANDLING_LIMIT));
  }

  /**
   * Returns the texts of a row, with a dash instead of a rate of 0.0. The page itself shows a dash
   * until the second snapshot. Thus tests need not know which snapshot it shows.
   */
  private String row(String name) throws Exception {
    return chromium.value(ROW_TEXT_SCRIPT.formatted(JsonText.of(name))).strip().replace(" 0.0 ", " – ");
  }

  private String background() throws Exception {
    return chromium.value("getComputedStyle(document.body).backgroundColor");
  }

  @Test
  void pageShowsActorsInLightAndDarkTheme() throws Exception {
    var innerScope = scope.openScope("below");
    var echo = innerScope.named("echo").onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((String text) -> {
          if (text.isEmpty()) throw new IllegalStateException("empty");
          return text;
        });
    for (int i = 0; i < 1_234; i++) echo.ask("x");
    echo.sendMessage("");
    scope.named("quiet").newActor((String text) -> {});
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    dashboard.close();
    openDashboard(); // has not seen the failure, which would be a problem

    show("?theme=light");
    assertEquals("echo ○ idle – 0 1,234 – 1 0", row("echo"));
    assertEquals("quiet ○ idle – 0 0 – 0 0", row("quiet"));
    assertEquals("below 1 actor 0 1,234 – 1 0", row("below"));
    assertEquals("1,234", chromium.value("cards[1].number.innerText"));
    assertEquals("1", chromium.value("document.querySelector('[data-reason=failed] dd').innerText"));
    assertTrue(chromium.value("byId('letters').innerText").contains("failed · String · IllegalStateException"));
    assertEquals("● live", chromium.value("byId('status').innerText"));
    var lightColor = background();

    show("?theme=dark");
    assertEquals("echo ○ idle – 0 1,234 – 1 0", row("echo"));
    assertNotEquals(lightColor, background());
    assertTrue(chromium.takePicture().length > 10_000);
  }

  @Test
  void systemThemeIsUsedUnlessThemeIsChosen() throws Exception {
    chromium.setColorScheme("dark");
    show("");
    var darkColor = background();
    chromium.setColorScheme("light");
    var lightColor = background();

    assertNotEquals(darkColor, lightColor);
    chromium.value("(byId('theme').value = 'dark', byId('theme').dispatchEvent(new Event('change')))");
    assertEquals(darkColor, background());
    assertTrue(chromium.value("location.search").contains("theme=dark"));
  }

  @Test
  void htmlInActorAndScopeNamesIsShownAsText() throws Exception {
    scope.named(HOSTILE).newActor((String text) -> {});
    scope.openScope(HOSTILE).named("in it").newActor((String text) -> {});
    scope.named("dead" + HOSTILE).onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      throw new IllegalStateException();
    }).sendMessage("x");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    show("");

    assertTrue(row(HOSTILE).startsWith("<img src=x"), row(HOSTILE));
    assertTrue(chromium.value("byId('letters').innerText").contains("dead<img"));
    assertEquals("undefined 1 0", chromium.value("typeof window.hacked + ' ' + document.scripts.length + ' ' "
        + "+ document.querySelectorAll('img').length"));
    assertEquals("", chromium.value("performance.getEntriesByType('resource').map(one => one.name)"
        + ".filter(name => !name.startsWith(location.origin) && !name.startsWith('data:')).join()"));
  }

  @Test
  void clickOnColumnSortsRowsAndFilterSearchesOnServer() throws Exception {
    for (int i = 0; i < 600; i++) {
      var actor = scope.named("actor-" + i).newActorWithReturn((String text) -> text);
      if (i == 7) actor.ask("x");
    }
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    show("");
    var shown = chromium.value("byId('shown').innerText"); // the actor that was asked is idle ten seconds later
    assertTrue(shown.matches("600 in 1 scope · (599|600) of them in groups"), shown);

    chromium.value("columns[5].button.click()");
    assertEquals("▸ actor-*", chromium.value("[...byId('rows').rows].at(-1).cells[0].firstChild.textContent"));
    chromium.value("[...byId('rows').rows].at(-1).click()");
    assertEquals("actor-7", chromium.value("[...byId('rows').rows].find(tr => tr.line.row).line.name"));
    assertEquals("descending", chromium.value("columns[5].head.getAttribute('aria-sort')"));

    chromium.value("(byId('filter').value = 'ACTOR-59', byId('filter').dispatchEvent(new Event('input')))");
    chromium.until("byId('shown').innerText === '11 found'");
    assertTrue(row("actor-599app").startsWith("actor-599"), chromium.value("byId('rows').innerText"));
  }

  @Test
  void stuckActorIsFirstRowBelowAlarmAndIdleActorsAreFolded() throws Exception {
    for (int i = 0; i < 200; i++) scope.named("session-" + i).newActor((String text) -> {});
    show("");
    assertEquals(
        "✓ no actor is cut off, stuck, without thread, restarting, full, failing, expiring, backlogged or growing",
        chromium.value("byId('alarm').innerText"));
    assertEquals("▸ session-* ○ 200 idle 0 0 – 0 0", row("▸ session-*"));
    assertEquals("2", chromium.value("byId('rows').rows.length"));

    var gate = occupyTill();
    chromium.until("byId('alarm').className === 'bad'");
    assertTrue(chromium.value("byId('alarm').innerText").matches("▲ 1 stuck: till \\(since (20[-0-9]+ )?[0-9:]{8}\\)"));
    assertEquals("Problems,till",
        chromium.value("[0, 1].map(i => byId('rows').rows[i].cells[0].firstChild.textContent)"));
    assertTrue(row("tillapp").matches(".*▲ stuck since (20[-0-9]+ )?[0-9:]{8} · handles String.*"), row("tillapp"));

    chromium.value("[...document.querySelectorAll('#rows tr.group')][0].click()");
    assertEquals("204", chromium.value("byId('rows').rows.length")); // the actors of the group, and four other lines
    gate.countDown();
    chromium.until("byId('alarm').className === 'good'");
  }

  /** Calls a function of the page, because the page shows an ended problem for ten seconds only. */
  @Test
  void endedProblemIsShownWithTimeOfItsEnd() throws Exception {
    show("");

    var text = chromium.value("timed(['stuck', 'failing'], 'till', {stuck: 5000}, 0)");

    assertTrue(text.matches("stuck until (20[-0-9]+ )?[0-9:]{8}, failing"), text);
  }

  /** Makes an actor whose handler waits until the latch is counted down. */
  private CountDownLatch occupyTill() {
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    scope.named("till").newActor((String text) -> {
      entered.countDown();
      gate.await();
    }).sendMessage("stuck");
    Patience.await(entered);
    return gate;
  }

  @Test
  void clickOnStuckActorShowsItsStackUntilEscape() throws Exception {
    occupyTill();
    show("");
    chromium.until("statistics.problems.stuck === 1");

    chromium.value("byId('rows').rows[1].cells[1].click()");
    chromium.until("byId('stack').innerText.includes('PageTest.java')");
    assertEquals("till", chromium.value("byId('details-name').innerText"));
    var state = chromium.value("byId('details-state').innerText");
    assertTrue(state.matches("app · ▲ stuck since (20[-0-9]+ )?[0-9:]{8} · handles String · busy for .*"), state);
    assertEquals("true", chromium.value("byId('failure').hidden"));

    chromium.value("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))");
    assertEquals("true", chromium.value("byId('details').hidden"));
  }

  @Test
  void actorThatWaitsForStuckActorIsNotStuck() throws Exception {
    var entered = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var stock = scope.named("stock").newActorWithReturn((String text) -> {
      entered.countDown();
      gate.await();
      return text;
    });
    stock.sendMessage("x");
    Patience.await(entered);
    scope.named("packer").newActor((String text) -> stock.ask(text)).sendMessage("y");
    show("");

    chromium.until("/^▲ 1 stuck: stock \\(since [^)]*\\) · 1 blocked: packer \\(waits for stock\\)$/"
        + ".test(byId('alarm').innerText)");
    assertTrue(row("packerapp").matches(
        ".*△ blocked since (20[-0-9]+ )?[0-9:]{8} · waits for 'stock' in String .*"), row("packerapp"));
    gate.countDown();
  }

  @Test
  void clickOnFailingActorShowsTimeClassAndLinesOfItsLastFailure() throws Exception {
    var printer = scope.named("printer").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      throw new IllegalStateException("hush");
    });
    show("");
    printer.sendMessage("x");
    chromium.until("statistics.rows.some(row => row.name === 'printer' && row.failed === 1)");
    assertEquals("▲ failing: 3 failures in 70 s, last seen TIME · idle,bad",
        chromium.value("does({...statistics.rows[0], "
            + "doing: 'idle', problems: ['failing', 'failed'], recentFailures: 3, failedInMillis: 61000, "
            + "failedMillisAgo: 45000, failedAt: undefined})")
            .replaceFirst("last seen (20[-0-9]+ )?[0-9:]{8} ", "last seen TIME "));
    assertEquals("true", chromium.value("does(statistics.rows.find(row => row.name === 'printer'))[0]"
        + ".includes(', last ' + clock(statistics.rows.find(row => row.name === 'printer').failedAt) + ' ')"));

    chromium.value("[...document.querySelectorAll('#rows .name')].find(e => e.textContent === 'printer').click()");

    chromium.until("byId('failure-stack').innerText.includes('PageTest.java')");
    var text = chromium.value("byId('failure-text').innerText");
    assertTrue(text.matches("last failure at (20[-0-9]+ )?[0-9:]{8}: java.lang.IllegalStateException"
        + " · at io.fibry.dashboard.PageTest\\..*\\(PageTest.java:\\d+\\)"), text);
    assertEquals("PageTest.java", chromium.value("byId('failure-stack').innerText.match(/PageTest.java/)[0]"));
    assertEquals("false", chromium.value("document.body.innerText.includes('hush')"));
    assertEquals("a.b.C.d(C.java:1) T$$Lambda/0x01.run(Unknown Source)", chromium.value(
        "frames(['java.base@25/a.b.C.d(C.java:1)', 'T$$Lambda/0x01.run(Unknown Source)']).replace('\\n', ' ')"));
  }

  @Test
  void countIsRedOnlyIfItHasRisenWithinLastMinute() throws Exception {
    show("");

    // in one script, because the server sends a snapshot each second
    assertEquals("7 number|▲ 7 number bad", chromium.value("[undefined, true].map(recent => recentCount(7, recent)"
        + ".join(' ')).join('|')"));
    assertEquals("9 |9 bad", chromium.value("[[], ['timing out']].map(problems => routeColumns.find(column => "
        + "column.title === '504').cell({timedOut: 9, problems}).join(' ')).join('|')"));
  }

  @Test
  void chartsBeginWithPointsOfServer() throws Exception {
    show("");

    assertEquals("≤ 9 in 60 s|≤ 0.5 in 60 s", chromium.value("(showCharts([{secondsAgo: 60, lost: 0, failed: 0, "
        + "waiting: 3}, {secondsAgo: 40, lost: 0, failed: 10, waiting: 9}], [{time: Date.now(), lost: 0, "
        + "failed: 10, waiting: 4}]), [charts[2].range.innerText, charts[1].range.innerText].join('|')"
        + ".replaceAll('1 min', '60 s'))"));
  }

  @Test
  void actorDetailsShowChartOfItsLostMessages() throws Exception {
    var gate = occupyTill();
    var full = scope.named("full").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((String text) -> gate.await());
    show("");
    chromium.until("statistics.rows.some(row => row.name === 'full')");
    for (int i = 0; i < 50; i++) full.sendMessage("x");

    chromium.until("statistics.rows.some(row => row.name === 'full' && row.refused >= 48)");
    chromium.value("[...document.querySelectorAll('#rows .name')].find(name => name.textContent === 'full').click()");

    chromium.until("/^≤ [1-9]/.test(charts[0].range.innerText)");
    assertTrue(chromium.value("byId('details-state').innerText").matches(".* · (48|49) refused · 0 dropped.*"));
    gate.countDown();
  }

  @Test
  void rowShowsHowLongOldestMessageHasWaitedAtLeast() throws Exception {
    var gate = new CountDownLatch(1);
    var slow = scope.named("slow").newActor((String text) -> gate.await());
    for (int i = 0; i < 3; i++) slow.sendMessage("x");
    show("");

    chromium.until("[...document.querySelectorAll('#rows tr')].some(row => / 2 · ≥ [1-9][.0-9]* (s|min|h) /"
        + ".test(row.innerText.replace(/\\s+/g, ' ')))");
    assertTrue(chromium.takePicture().length > 10_000);
    gate.countDown();
  }

  @Test
  void curvesBeginWithHistoryOfServer() throws Exception {
    show("");

    // in one script, because the server sends a snapshot each second
    assertEquals("≤ 7 in 5 min, 2, true",
        chromium.value("(show({...statistics, waiting: 0, history: [{secondsAgo: 300, "
            + "handling: 0, waiting: 7, perSecond: {sent: null, handled: 2, unhandled: 0}, process: {heapUsed: 1}}]}), "
            + "[cards[3].range.innerText, cards[3].history.length, cards[0].history.length < 2].join(', '))"));
  }

  @Test
  void restartsAreShownAboveActors() throws Exception {
    scope.named("till").newActor((String text) -> {});
    show("");

    // in one script, because the server sends a snapshot each second
    assertEquals("|1 restart|4 restarts · 1 suspended now|4 restarts, of till 3", chromium.value("[[0, 0, 0], "
        + "[1, 0, 0], [4, 1, 0], [4, 0, 3]].map(([restarted, suspended, most]) => (show({...statistics, restarted, "
        + "suspended, rows: statistics.rows.map(row => ({...row, restarted: most}))}), byId('restarts').innerText))"
        + ".join('|')"));
  }

  @Test
  void problemIsShownWholeInTableAndOnPhone() throws Exception {
    show(""); // first, because a failure before the first snapshot is no problem
    scope.named("till with a long name, as many actors of other programs have").onFailure(FailurePolicy.restart()
        .withBackoff(Duration.ofHours(1), Duration.ofHours(1)).withoutLog()).newActor((String text) -> {
          throw new IllegalStateException(text);
        }).sendMessage("fails");
    var gate = occupyTill();
    chromium.until("statistics.problems.restarting === 1 && statistics.problems.stuck === 1");

    for (int width : new int[] {1200, 390}) {
      chromium.setSize(width, 844);
      chromium.until("innerWidth === " + width);
      // the failure is shown only for a minute
      assertEquals("▲ restarting · is suspended after a failure,▲ stuck since · handles String",
          chromium.value("[...document.querySelectorAll('tr.ill')].map(row => row.cells[2].innerText"
              + ".replace(/since .*? ·/, 'since ·').replace(/, 1 failure.*? ·/, ' ·')).toSorted().join()"));
      assertEquals("", chromium.value(CUT_CELLS_SCRIPT), "at a width of " + width);
      assertEquals("" + width, chromium.value("document.documentElement.scrollWidth"));
    }
    gate.countDown();
  }

  @Test
  void deadLetterHasTimeOfLastLetter() throws Exception {
    scope.named("dead").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      throw new IllegalStateException();
    }).sendMessage("x");
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    show("");

    var letters = chromium.value("byId('letters').innerText");
    assertTrue(letters.matches("(?s)dead\\s+once · (20[-0-9]+ )?[0-9]+:[0-9]+:[0-9]+\\s.*"), letters);
    assertEquals("2020-02-03 ", chromium.value("clock(new Date(2020, 1, 3, 4, 5, 6)).slice(0, 11)"));
  }

  @Test
  void poolShowsItsMaximumOfWorkers() throws Exception {
    Pools.fixed(scope.named("db"), 3).newActor((String text) -> {});
    show("");

    assertTrue(row("db").contains("○ 0 of 3 at work"), row("db"));
    // in one script, because the server sends a snapshot each second
    assertEquals("0", chromium.value("(show({...statistics, rows: [{...statistics.rows[0], state: 'busy', "
        + "doing: '4 of 4 at work, for longest with GET /reservations/{id}'}]}), [document.querySelector('td.pool')]"
        + ".map(e => e.scrollWidth - e.clientWidth))"));
  }

  @Test
  void chartsFillTheirWidthAndProcessValuesAreShown() throws Exception {
    show("");
    chromium.until("cards[3].history.length >= 3");

    assertTrue(chromium.value("cards[3].curve.children[1].getAttribute('d')").matches("M0\\.00,.*L100\\.00,[0-9.]+"));
    assertTrue(chromium.value("cards[5].number.innerText").matches("[0-9.,]+ [MG]B"));
    assertEquals(Runtime.version().feature() >= 24, chromium.value("cards[7].number.innerText").matches("[0-9,]+"));
  }

  @Test
  void pageFitsWidthOfPhone() throws Exception {
    scope.named("an actor with a name that is too long for a phone, and for most other screens, too")
        .newActor((String text) -> {});
    chromium.setSize(390, 800);
    show("");

    assertEquals("390", chromium.value("document.documentElement.scrollWidth"));
  }

  @Test
  void layoutStaysWhenStatisticsChange() throws Exception {
    var echo = scope.named("echo").newActorWithReturn((String text) -> text);
    show("");
    var positionScript = "[...document.querySelectorAll('h2, th, td, .value, dd')].map(e => { const r = "
        + "e.getBoundingClientRect(); return [r.left, r.top, r.height].join(); }).join(' ')";
    var positionsBefore = chromium.value(positionScript);
    for (int i = 0; i < 2_000; i++) echo.ask("x");

    chromium.until("statistics.handled === 2000 && statistics.rows[0].handled === 2000");

    assertEquals(positionsBefore, chromium.value(positionScript));
  }

  @Test
  void pageShowsThatScopeHasClosed() throws Exception {
    show("");

    scope.close();

    chromium.until("byId('status').innerText === '■ this scope has closed'");
  }
}
