package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.time.ManualScheduler;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests in a browser that no count is cut, also if it is red and bold. */
class CountsPageTest extends PageFixture {
  /** Returns the visible cells of numbers whose text is cut. */
  private static final String CUT_COUNTS_SCRIPT = "[...document.querySelectorAll('.number')]"
      + ".filter(e => e.offsetWidth && e.scrollWidth > e.clientWidth).map(e => e.className + ' ' + e.innerText "
      + "+ ' ' + e.scrollWidth + ' > ' + e.clientWidth).join('|')";

  @Override
  void openDashboard() {
    scope.named("till").newActor((String text) -> {});
    var server = HttpServer.open(scope.named("web"), 0, HttpRoutes.none().text("GET /a", exchange -> "a"),
        options -> options);
    // the clock is paused, so the server sends no snapshot that would replace the counts
    dashboard = Dashboard.open(scope, 0, options -> options.withRoutes("api", server), new ManualScheduler());
  }

  @ParameterizedTest
  @CsvSource({"1200, 800", "1600, 1000", "390, 844"})
  void redCountsAreNotCut(int width, int height) throws Exception {
    showAt(width, height);

    for (long count : new long[] {999, 1_190, 9_999, 12_100, 99_999, 123_456, 999_499, 12_345_678}) {
      var cut = chromium.value(
          "(count => (show({...statistics, panels: statistics.panels.filter(panel => panel.routes).map(panel => ({...panel, "
              + "routes: panel.routes.map(route => ({...route, perSecond: 1234, successful: count, redirected: count, "
              + "clientErrors: count, serverErrors: count, unavailable: count, timedOut: count, maxRange: [1000, 2500], "
              + "problems: ['failing', 'timing out', 'unavailable', 'slow']}))})).concat({title: 'sold', "
              + "subscriberCount: 1, published: count, delivered: count, waiting: count, lost: count, isLosing: true, "
              + "subscribers: []}), rows: [{...statistics.rows[0], group: undefined, handled: count, failed: count, "
              + "refused: count, dropped: 0, waiting: Math.min(count, 100000), oldestMillis: 59000, problems: ['failing', "
              + "'full'], recentFailures: 3, failedInMillis: 61000, refusedRecently: 3, droppedRecently: 0, "
              + "lostInMillis: 61000}]}), " + CUT_COUNTS_SCRIPT + "))(" + count + ")");
      assertEquals("", cut, count + " at a width of " + width);
    }
    assertEquals("" + width, chromium.value("document.documentElement.scrollWidth"));
  }
}
