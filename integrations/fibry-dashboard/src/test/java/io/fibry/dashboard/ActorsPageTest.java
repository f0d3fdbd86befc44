package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.FailurePolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests in a browser how the page orders actors, shows single failures, and places its tiles. */
class ActorsPageTest extends PageFixture {
  /** Shows three actors: with many messages, with an old message, and without messages. */
  private static final String SHOW_WAITING_SCRIPT = "show({...statistics, rows: [['many', 100000, 2000], "
      + "['old', 3, 59000], ['none', 0, undefined]].map(([name, waiting, oldestMillis]) => "
      + "({...statistics.rows[0], name, waiting, oldestMillis}))})";
  private static final String NAMES_SCRIPT =
      "[...byId('rows').rows].map(row => row.cells[0].firstChild.textContent).join()";
  private static final String CUT_HEADS_SCRIPT = "[...document.querySelectorAll('.actors thead th, .actors .number')]"
      + ".filter(e => e.offsetWidth && e.scrollWidth > e.clientWidth).map(e => e.innerText).join('|')";

  @Override
  void openDashboard() {
    dashboard = Dashboard.open(scope, 0);
  }

  /** Clicks on the second button of the column, and returns the order of the actors. */
  private String clickOnOldest() throws Exception {
    // in one script, because the server sends a snapshot each second
    return chromium.value("(oldest.button.click(), " + SHOW_WAITING_SCRIPT + ", " + NAMES_SCRIPT + " + ' ' + "
        + "oldest.button.innerText + ' ' + oldest.column.head.getAttribute('aria-sort'))");
  }

  @Test
  void secondButtonOfWaitingSortsByAgeOfOldestMessage() throws Exception {
    scope.named("till").newActor((String text) -> {});
    show();

    assertEquals("old,many,none oldest ▼ descending", clickOnOldest());
    assertEquals("none,many,old oldest ▲ ascending", clickOnOldest());
    assertEquals("app,many,old,none oldest null", clickOnOldest());
    assertEquals("many,old,none Waiting ▼", chromium.value("(oldest.column.button.click(), " + SHOW_WAITING_SCRIPT
        + ", " + NAMES_SCRIPT + " + ' ' + oldest.column.button.innerText)"));
  }

  @ParameterizedTest
  @CsvSource({"1200, 800", "1600, 1000", "390, 844"})
  void headsOfActorsAreNotCutWhileTheySort(int width, int height) throws Exception {
    scope.named("till").newActor((String text) -> {});
    showAt(width, height);

    assertEquals("||", chromium.value("[oldest, oldest.column, columns[8]].map(sorter => (sorter.button.click(), "
        + SHOW_WAITING_SCRIPT + ", " + CUT_HEADS_SCRIPT + ")).join('|')"));
    assertEquals("" + width, chromium.value("document.documentElement.scrollWidth"));
  }

  @Test
  void singleFailureIsShownWithoutAlarm() throws Exception {
    show();
    scope.named("printer").onFailure(FailurePolicy.resume().withoutLog()).newActor((String text) -> {
      throw new IllegalStateException("planned");
    }).sendMessage("x");
    chromium.until("statistics.recentFailures?.failures === 1");

    // in one script, because the server sends a snapshot each second
    assertEquals("△ 1 failure, last 40 s ago: printer|warn|app – Fibry dashboard|"
        + "△ 1 failure, last TIME · idle|warn",
        chromium.value(
            "(show({...statistics, recentFailures: {...statistics.recentFailures, millisAgo: 49999, lastAt: undefined}, "
                + "rows: [{...statistics.rows[0], failedMillisAgo: 49999, doing: 'idle'}]}), [byId('alarm').innerText, "
                + "byId('alarm').className, document.title, byId('rows').rows[1].cells[2].innerText, "
                + "byId('rows').rows[1].cells[2].className].join('|'))")
            .replaceFirst("last (20[-0-9]+ )?[0-9:]{8} ", "last TIME "));
    assertEquals("△ 3 failures in 70 s of 2 actors, just now: printer|"
        + "▲ 1 stuck: till · 3 failures in 70 s of 2 actors, just now: printer",
        chromium.value("[[], [{...statistics.rows[0], name: 'till', problems: ['stuck']}]].map(stuck => (show({"
            + "...statistics, problems: {...statistics.problems, stuck: stuck.length}, recentFailures: {actors: 2, "
            + "failures: 3, millisAgo: 0, inMillis: 61000}, rows: [...statistics.rows.slice(0, 1), ...stuck]}), "
            + "byId('alarm').innerText)).join('|')"));
  }

  @Test
  void periodOfCountsStaysAfterOneMinute() throws Exception {
    show();

    assertEquals("10 s, 20 s, 60 s, 70 s, 70 s, 90 s", chromium.value("[1000, 10001, 59999, 60000, 70999, 90000]"
        + ".map(millis => within(millis).slice(4)).join(', ')"));
  }

  @Test
  void growingQueueHasItsLengthAndGrowth() throws Exception {
    scope.named("till").newActor((String text) -> {});
    show();

    assertEquals("growing: 1,200 waiting, 50 more in 70 s|growing: 100,000 waiting|growing|growing: 3 waiting",
        chromium.value("[[1200, 50], [100000, 0], [0, -9], [3, -5]].map(([waiting, grewRecently]) => problemsOf({"
            + "...statistics.rows[0], name: 'a' + waiting, problems: ['growing'], waiting, grewRecently, "
            + "grewInMillis: 61000})).join('|')"));
  }

  @Test
  void foldedActorsAreNoneOfBusiestActors() throws Exception {
    scope.named("till").newActor((String text) -> {});
    show();

    // in one script, because the server sends a snapshot each second
    assertEquals("646 in 1 scope · 430 of them in groups|the 216 busiest of 470 · 430 others in groups|216 in 1 scope",
        chromium.value("[[646, 430], [900, 430], [216, 0]].map(([actors, folded]) => (show({...statistics, actors, "
            + "groups: folded ? [{scope: 0, name: 'web/*', kind: 'FIBER', actors: folded, working: 0, waiting: 0, "
            + "handled: 3, perSecond: 0, failed: 0, refused: 0, dropped: 0}] : [], rows: Array.from({length: folded "
            + "? 500 : 216}, (_, i) => ({...statistics.rows[0], name: 'a' + i, group: i < 216 ? undefined : 0}))}), "
            + "byId('shown').innerText)).join('|')"));
  }

  @Test
  void textsOfRowsOnPhoneHaveSpaceBetweenThem() throws Exception {
    scope.named("till").newActor((String text) -> {});
    showAt(390, 844);

    // in one script, because the server sends a snapshot each second
    assertEquals("",
        chromium.value("(show({...statistics, rows: [{name: 'welcomer', doing: 'idle', problems: undefined}, "
            + "{name: 'archive', problems: ['backlogged'], busyMillis: 120000, waiting: 3, oldestMillis: 120000}]"
            + ".map(row => ({...statistics.rows[0], group: undefined, ...row}))}), [...byId('rows').rows].flatMap(tr => { const "
            + "texts = [...tr.cells].map(cell => { const range = document.createRange(); range.selectNodeContents(cell); "
            + "return {text: cell.innerText, box: range.getBoundingClientRect()}; }).filter(cell => cell.text && "
            + "cell.box.width); return texts.flatMap((a, i) => texts.slice(i + 1).filter(b => a.box.top < b.box.bottom "
            + "&& b.box.top < a.box.bottom && !(a.box.right + 8 <= b.box.left || b.box.right + 8 <= a.box.left) "
            + "&& !b.text.startsWith('○')).map(b => a.text + ' ' + b.text)).concat([...tr.querySelectorAll('.name')]"
            + ".filter(name => name.parentElement.scrollWidth > name.parentElement.clientWidth).map(name => name.innerText)); "
            + "}).join('|'))"));
  }

  @Test
  void actorThatFailedOnceIsShownBelowStuckActor() throws Exception {
    scope.named("till").newActor((String text) -> {});
    show();

    assertEquals("Problems,till,growing,printer,app", chromium.value("(show({...statistics, "
        + "rows: [['printer', 'failed'], ['growing', 'growing'], ['till', 'stuck']].map(([name, problem]) => ({...statistics.rows[0], name, "
        + "problems: [problem]}))}), " + NAMES_SCRIPT + ")"));
  }

  @Test
  void sortKeepsGroupsFoldedAtEndUntilProblemsAreFirstAgain() throws Exception {
    scope.named("till").newActor((String text) -> {});
    show();

    // in one script, because the server sends a snapshot each second
    assertEquals("busy,slow,▸ session-*|slow,busy,▸ session-*|Problems,slow,app,busy,▸ session-*"
        + "|busy,slow,▾ session-*,session-2,session-1|Problems,slow,app,busy,▾ session-*,session-1,session-2"
        + "|Sorts the actors|A second click reverses the order|A third click puts problems first again"
        + "|false|true",
        chromium.value("((names, handled, titles) => (show({...statistics, groups: [{scope: 0, name: 'session-*', "
            + "kind: 'FIBER', actors: 2, working: 0, waiting: 0, handled: 3, perSecond: 0, failed: 0, refused: 0, "
            + "dropped: 0}], rows: [['session-1', 1, 0], ['session-2', 2, 0], ['slow', 3, undefined, ['backlogged']], "
            + "['busy', 9]].map(([name, handled, group, problems]) => ({...statistics.rows[0], name, handled, group, "
            + "problems}))}), titles.push(handled.title), [...[1, 2, 3].map(() => (handled.click(), "
            + "titles.push(handled.title), names())), (handled.click(), byId('rows').rows[2].click(), names()), "
            + "(titles.push(byId('unsort').hidden), byId('unsort').click(), names()), ...titles.toSpliced(3, 1), "
            + "byId('unsort').hidden].join('|')))(() => " + NAMES_SCRIPT + ", columns[5].button, [])"));
  }

  @ParameterizedTest
  @CsvSource({"1200, 800, 2", "1600, 1000, 1", "1021, 800, 2", "900, 800, 2", "700, 800, 3", "390, 844, 2"})
  void problemsHaveFewLines(int width, int height, int maxLines) throws Exception {
    scope.named("till").newActor((String text) -> {});
    showAt(width, height);

    var lines = chromium.value("(show({...statistics, rows: [{problems: ['stuck', 'backlogged'], doing: "
        + "'handles String'}, {problems: ['blocked'], doing: \"waits for 'stock' in String\"}, {problems: ['full'], "
        + "refusedRecently: 142, droppedRecently: 0, lostInMillis: 90000, doing: 'handles String'}, "
        + "{problems: ['failing'], recentFailures: 14, failedInMillis: 90000, failedMillisAgo: 0, doing: 'idle'}]"
        + ".map((row, i) => ({...statistics.rows[0], ...row, name: 'a' + i}))}), [...document"
        + ".querySelectorAll('tr.ill td:nth-child(3)')].map(cell => { const range = document.createRange(); range.selectNodeContents(cell); "
        + "return range.getClientRects().length; }).join())");

    assertTrue(lines.matches("([1-" + maxLines + "],?){4}"), lines);
    assertEquals("" + width, chromium.value("document.documentElement.scrollWidth"));
  }

  @ParameterizedTest
  @CsvSource({"1200, 800", "1600, 1000", "1021, 800", "390, 844"})
  void textsOfTilesDoNotMeet(int width, int height) throws Exception {
    showAt(width, height);

    assertEquals("", chromium.value("(show({...statistics, sent: 1234567890, process: {...statistics.process, "
        + "queued: 12345, mounted: 1234}, history: [{secondsAgo: 300, handling: 0, waiting: 7, perSecond: {sent: 1e6, "
        + "handled: 2, unhandled: 0}, process: {heapUsed: 1, queued: 123456}}]}), [...document.querySelectorAll("
        + "'#cards .card')].filter(card => { const texts = [...card.querySelectorAll('h2, p')].map(e => { "
        + "const range = document.createRange(); range.selectNodeContents(e); "
        + "const text = range.getBoundingClientRect(); const box = e.getBoundingClientRect(); "
        + "return {top: text.top, bottom: text.bottom, left: text.left, right: "
        + "Math.min(text.right, box.right)}; }).concat(card.querySelector('svg').getBoundingClientRect()); "
        + "return texts.some((a, i) => texts.some((b, j) => i < j && a.left < b.right && b.left < a.right "
        + "&& a.top < b.bottom - 1 && b.top < a.bottom - 1)); }).map(card => card.innerText).join('|'))"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void selectedRowOfPhoneHasNoHolesAndStackIsWrapped(String theme) throws Exception {
    scope.named("till").newActor((String text) -> {});
    showAt(390, 844);

    // a cell with a color of its own leaves holes between the cells
    assertEquals("true,true,0", chromium.value("(showTheme('" + theme + "'), show({...statistics, "
        + "rows: [{...statistics.rows[0], problems: ['stuck']}]}), select({scope: 'app', name: 'till'}), "
        + "showParts(false), byId('stack').textContent = 'x'.repeat(300), byId('details').hidden = false, (tr => { const color = e => "
        + "getComputedStyle(e).backgroundColor; return [color(tr) !== 'rgba(0, 0, 0, 0)', [...tr.cells].every(cell => "
        + "color(cell) === 'rgba(0, 0, 0, 0)'), byId('stack').scrollWidth - byId('stack').clientWidth]; })("
        + "document.querySelector('tr.selected')))"));
  }

  @Test
  void smallRatesAreShownWithOneDigit() throws Exception {
    show();

    assertEquals("– 0.0 0.02 0.1 0.2 1,235", chromium.value("[null, 0, 1 / 60, 0.0999, 0.15, 1234.5].map(rate)"
        + ".join(' ')"));
    assertEquals("≤ 0.02", chromium.value("(showCharts([], [{time: 0, lost: 0, failed: 0, waiting: 0}, {time: 60000, "
        + "lost: 0, failed: 1, waiting: 0}]), charts[1].range.innerText.slice(0, 6))"));
  }

  @ParameterizedTest
  @CsvSource({"1200, 1600", "1600, 1000", "390, 844", "680, 900", "681, 900", "1020, 900", "2300, 1200"})
  void noTileIsAloneInItsRow(int width, int height) throws Exception {
    showAt(width, height);

    var tilesByRow = chromium.value("[...Map.groupBy(document.querySelectorAll('#cards .card'), "
        + "tile => Math.round(tile.getBoundingClientRect().top)).values()].map(tiles => tiles.length).join()");

    assertTrue(tilesByRow.matches("8|4,4|2,2,2,2"), tilesByRow);
  }
}
