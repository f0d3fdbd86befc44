package io.fibry.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Logged;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the texts that travel to other nodes and into stores. */
class ContextTextsTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "00-" + TRACE + "-b7ad6b7169203331-01";

  private final Telemetry telemetry = new Telemetry();
  private final OpenTelemetryTraces traces = OpenTelemetryTraces.of(telemetry.api());

  @AfterEach
  void close() {
    telemetry.close();
  }

  private static Baggage baggage(int length) {
    return Baggage.builder().put("tenant", "x".repeat(length)).build();
  }

  @Test
  void textsHaveTraceparentAndBaggageAndTimeOfSending() {
    telemetry.inSpan("order", () -> {
      var texts = traces.write(Context.current().with(baggage(3)));

      assertEquals(Set.of("traceparent", "baggage", ContextTexts.SENT), texts.keySet());
      var sender = Span.current().getSpanContext();
      assertEquals("00-" + sender.getTraceId() + "-" + sender.getSpanId() + "-" + sender.getTraceFlags().asHex(),
          texts.get("traceparent"));
      assertEquals("tenant=xxx", texts.get("baggage"));
      return "";
    });
  }

  @Test
  void contextWithoutTraceAndBaggageHasNoTexts() {
    assertEquals(Map.of(), traces.write(Context.root()));
  }

  @Test
  void longBaggageDoesNotDisplaceTrace() {
    try (var scope = ActorSystem.openScope("shop", options -> options.withContextPropagator(traces));
        var logged = new Logged()) {
      var actor = scope.anonymous().newActor((String message) -> {});
      BlockBuilder<Object> builder = BlockBuilder.of(scope.anonymous());

      String text = telemetry.inSpan("order", () -> Context.current().with(baggage(4_000))
          .wrapSupplier(() -> builder.contextText(actor, "m") + builder.contextText(actor, "n")).get());

      assertEquals(3, text.split("traceparent=").length);
      assertFalse(text.contains("baggage"), text);
      assertEquals(2, logged.text().split("the text 'baggage' of a message is left out").length, logged::text);
    }
  }

  @Test
  void textsAreWrittenAlthoughLogFails() {
    var original = System.err;
    System.setErr(new PrintStream(original) {
      @Override
      public void println(String line) {
        throw new IllegalStateException("no space");
      }
    });
    try {
      telemetry.inSpan("order", () -> {
        var texts = traces.write(Context.current().with(baggage(4_000))); // logs that the baggage is left out
        assertEquals(Set.of("traceparent", ContextTexts.SENT), texts.keySet());
        return "";
      });
    } finally {
      System.setErr(original);
    }
  }

  @Test
  void baggageThatFitsIsWritten() {
    telemetry.inSpan("order", () -> {
      assertTrue(traces.write(Context.current().with(baggage(1_800))).containsKey("baggage"));
      return "";
    });
  }

  @Test
  void textsOfOtherLibrariesContinueTrace() {
    var read = traces.read(Map.of("traceparent", PARENT, "tenant", "acme"));

    assertEquals(TRACE, Span.fromContext(read).getSpanContext().getTraceId());
    assertTrue(read.get(Arrival.KEY).isPending());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "soon", "9223372036854775808", "-9223372036854775808", "9223372036854775807"})
  void malformedTimeOfSendingContinuesTrace(String sent) {
    var read = traces.read(Map.of("traceparent", PARENT, ContextTexts.SENT, sent));

    assertEquals(TRACE, Span.fromContext(read).getSpanContext().getTraceId());
  }

  @Test
  void oldMessageHasLinkInsteadOfParent() {
    long sent = System.currentTimeMillis() - Duration.ofMinutes(6).toMillis();

    var old = traces.read(Map.of("traceparent", PARENT, ContextTexts.SENT, Long.toString(sent)));
    var recent = OpenTelemetryTraces.of(telemetry.api(), o -> o.withMaxTraceAge(Duration.ofHours(1)))
        .read(Map.of("traceparent", PARENT, ContextTexts.SENT, Long.toString(sent)));

    assertFalse(Span.fromContext(old).getSpanContext().isValid());
    assertEquals(TRACE, old.get(Arrival.KEY).link().orElseThrow().getTraceId());
    assertEquals(TRACE, Span.fromContext(recent).getSpanContext().getTraceId());
  }

  @Test
  void baggageWithoutTraceBeginsNoSpan() {
    var read = traces.read(Map.of("baggage", "tenant=acme"));

    assertEquals("acme", Baggage.fromContext(read).getEntryValue("tenant"));
    assertNull(read.get(Arrival.KEY));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "00-zz", "00-00000000000000000000000000000000-0000000000000000-01"})
  void malformedTraceIsIgnored(String parent) {
    assertNull(traces.read(Map.of("traceparent", parent, "tenant", "acme")));
  }
}
