package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which exchanges of a route the dashboard remembers. */
class RouteExchangesTest {
  private static final long SECOND = 1_000_000_000;
  private final RouteExchanges exchanges = new RouteExchanges();

  private static ActorRow row(String name, long millis) {
    var stats = Stats.of(name).awaiting("stock").withMessageType("GET /").withBusyFor(Duration.ofMillis(millis)).get();
    return new ActorRow(stats, 0, ActorTrend.first(stats));
  }

  private void add(long second, ActorRow... rows) {
    exchanges.add(second * SECOND, 1_000 * second, List.of("web"), List.of(rows));
  }

  private String seen(long second) {
    return "" + exchanges.seen("web", "GET /", second * SECOND).stream()
        .map(map -> map.get("connection") + ":" + map.get("millis") + ":" + map.get("awaits")).toList();
  }

  @Test
  void exchangeThatIsSeenAgainHasOneEntry() {
    add(1, row("web/1", 400));
    add(2, row("web/1", 1_400));
    add(3, row("web/1", 900)); // another exchange of this connection

    assertEquals("[]", seen(1));
    assertEquals("[web/1:1400:stock, web/1:900:stock]", seen(4));
  }

  @Test
  void longestExchangesStayForOneMinute() {
    add(1, row("web/1", 300), row("web/2", 400), row("web/3", 200), row("web/4", 500), row("web/5", 99),
        row("other/1", 9_000));

    assertEquals("[web/4:500:stock, web/2:400:stock, web/1:300:stock]", seen(2));
    add(60);
    assertEquals("[web/4:500:stock, web/2:400:stock, web/1:300:stock]", seen(60));
    add(61);
    assertEquals("[]", seen(61));
  }

  @Test
  void exchangesAtWorkAreOrderedByTheirTime() {
    var atWork = RouteExchanges.atWork("web", "GET /", List.of(row("web/1", 10), row("web/2", 20), row("x/1", 30)), 0);

    assertEquals("[web/2, web/1]", "" + atWork.stream().map(map -> map.get("connection")).toList());
  }
}
