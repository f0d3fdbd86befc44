package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests that invalid options and routes are refused. */
class HttpOptionsTest {
  @Test
  void invalidOptionsAndRoutesAreRefused() {
    for (UnaryOperator<HttpOptions> invalid : List.<UnaryOperator<HttpOptions>>of(o -> o.withHeaderLimit(Duration.ZERO),
        o -> o.withBodyLimit(Duration.ofSeconds(-1)), o -> o.withWriteLimit(Duration.ZERO),
        o -> o.withIdleLimit(Duration.ZERO),
        o -> o.withDrainLimit(Duration.ofMillis(-1)), o -> o.withMaxBody(-1), o -> o.withMaxHeaders(255),
        o -> o.withMaxUri(15), o -> o.withMaxExchanges(0), o -> o.withMaxExchanges(1_000_001))) {
      var failure = assertThrows(IllegalArgumentException.class, () -> invalid.apply(HttpOptions.DEFAULT));
      assertTrue(failure.getMessage().contains("give"), failure.getMessage());
    }
    for (UnaryOperator<HttpOptions> withNull : List.<UnaryOperator<HttpOptions>>of(o -> o.withHeaderLimit(null),
        o -> o.withDrainLimit(null), o -> o.withAddress(null), o -> o.withResponseHeaders(null)))
      assertThrows(NullPointerException.class, () -> withNull.apply(HttpOptions.DEFAULT));
    assertThrows(NullPointerException.class,
        () -> HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none(), o -> null));
    for (var invalid : new String[] {"", "a", "/a/", "//", "/a//b", "/a/../b", "/.", "/a?b", "/a\n"})
      assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().text(invalid, exchange -> ""), invalid);
    assertThrows(IllegalArgumentException.class,
        () -> HttpRoutes.none().text("/a", exchange -> "").stream("/a", exchange -> {}));
    assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().files("/a", Path.of("/no/such/folder")));
  }
}
