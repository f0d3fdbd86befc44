package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Options and routes that a server cannot have. */
class HttpOptionsTest {
  @Test
  void optionsThatCannotBeAreRefused() {
    for (UnaryOperator<HttpOptions> bad : List.<UnaryOperator<HttpOptions>>of(o -> o.withHeaderLimit(Duration.ZERO),
        o -> o.withBodyLimit(Duration.ofSeconds(-1)), o -> o.withWriteLimit(Duration.ZERO),
        o -> o.withIdleLimit(Duration.ZERO),
        o -> o.withDrainLimit(Duration.ofMillis(-1)), o -> o.withMaxBody(-1), o -> o.withMaxHeaders(255),
        o -> o.withMaxUri(15), o -> o.withMaxExchanges(0), o -> o.withMaxExchanges(1_000_001))) {
      var refused = assertThrows(IllegalArgumentException.class, () -> bad.apply(HttpOptions.DEFAULT));
      assertTrue(refused.getMessage().contains("give"), refused.getMessage());
    }
    for (UnaryOperator<HttpOptions> none : List.<UnaryOperator<HttpOptions>>of(o -> o.withHeaderLimit(null),
        o -> o.withDrainLimit(null), o -> o.withAddress(null)))
      assertThrows(NullPointerException.class, () -> none.apply(HttpOptions.DEFAULT));
    assertThrows(NullPointerException.class,
        () -> HttpServer.open(ActorSystem.anonymous(), 0, HttpRoutes.none(), o -> null));
    for (var bad : new String[] {"", "a", "/a/", "//", "/a//b", "/a/../b", "/.", "/a?b", "/a\n"})
      assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().text(bad, exchange -> ""), bad);
    assertThrows(IllegalArgumentException.class,
        () -> HttpRoutes.none().text("/a", exchange -> "").stream("/a", exchange -> {}));
    assertThrows(IllegalArgumentException.class, () -> HttpRoutes.none().files("/a", Path.of("/no/such/folder")));
  }
}
