package io.fibry.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerLoadTest {
  private static final String AB = """
      Complete requests:      50000
      Failed requests:        %d
      Keep-Alive requests:    0
      Requests per second:    8895.70 [#/sec] (mean)
      """;
  private static final String WRK = """
        173000 requests in 4.00s, 21.00MB read
      %sRequests/sec:  43272.11
      Transfer/sec:      5.25MB
      """;

  @Test
  void rateIsReadFromOutputOfAbAndWrk() {
    assertEquals(8895.7, ServerLoad.rate(AB.formatted(0)));
    assertEquals(43272.11, ServerLoad.rate(WRK.formatted("")));
  }

  @Test
  void outputOfAbWithFailedRequestsIsRefused() {
    assertRefused(AB.formatted(10));
    assertRefused(AB.formatted(0).replace("Keep", "Non-2xx responses:      7\nKeep"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"  Non-2xx or 3xx responses: 7\n",
    "  Socket errors: connect 0, read 3, write 0, timeout 0\n"})
  void outputOfWrkWithFailedRequestsIsRefused(String line) {
    assertRefused(WRK.formatted(line));
  }

  @Test
  void titleNamesServersThatWereNotMeasured() {
    var load = List.of("ab", "-q");

    assertEquals("a server that closes, under ab -q", ServerLoad.title("closes", load, List.of()));
    assertEquals("a server that closes, under ab -q; not measured, because Go is missing or could not compile them: go",
        ServerLoad.title("closes", load, List.of("go")));
  }

  private static void assertRefused(String output) {
    var failure = assertThrows(IllegalStateException.class, () -> ServerLoad.rate(output));

    assertTrue(failure.getMessage().startsWith("requests failed: "), failure.getMessage());
  }
}
