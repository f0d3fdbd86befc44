package io.fibry.opentelemetry;

import io.fibry.text.SafeLogger;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Writes contexts as texts for another process, and reads them. The program's
 * {@link TextMapPropagator} chooses the texts, to which this class adds the time of the send.
 */
final class ContextTexts {
  static final String SENT = "fibry-sent"; // milliseconds since 1970
  private static final int MAX_BYTES = 2_048; // of all texts of a message, as a URL encodes them: semantics 14.11

  private static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
    @Override
    @SuppressWarnings("deprecation") // propagators for other formats still call it
    public Iterable<String> keys(Map<String, String> texts) {
      return texts.keySet();
    }

    @Override
    public @Nullable String get(@Nullable Map<String, String> texts, String key) {
      return texts == null ? null : texts.get(key);
    }
  };

  private final TextMapPropagator propagator;
  private final AtomicBoolean hasLoggedOmission = new AtomicBoolean();

  ContextTexts(TextMapPropagator propagator) {
    this.propagator = propagator;
  }

  /** Returns the texts; empty if the propagator writes none. */
  Map<String, String> write(Context context) {
    var texts = new HashMap<String, String>();
    propagator.inject(context, texts, (map, name, value) -> {
      if (map != null) map.put(name, value);
    });
    if (texts.isEmpty()) return texts;
    texts.put(SENT, Long.toString(System.currentTimeMillis()));
    omitLargest(texts);
    return texts;
  }

  /**
   * Removes the longest texts until the others fit. A long baggage is thus omitted instead of the
   * trace. Otherwise, all texts would be omitted.
   */
  private void omitLargest(Map<String, String> texts) {
    while (encodedLength(texts) > MAX_BYTES) {
      var largest = texts.entrySet().stream().max(Comparator.comparingInt(ContextTexts::encodedLength)).orElseThrow();
      if (!hasLoggedOmission.getAndSet(true))
        SafeLogger.of("io.fibry.opentelemetry.OpenTelemetryTraces").warn(
            "the text '{}' of a message is left out: it has {} bytes, and all texts together may have {}; further "
                + "such texts are left out without a log line",
            largest.getKey(), encodedLength(largest), MAX_BYTES);
      texts.remove(largest.getKey());
    }
  }

  private static int encodedLength(Map<String, String> texts) {
    return texts.entrySet().stream().mapToInt(ContextTexts::encodedLength).sum() + texts.size() - 1;
  }

  private static int encodedLength(Map.Entry<String, String> text) {
    return encode(text.getKey()).length() + 1 + encode(text.getValue()).length();
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /**
   * Returns the context in the headers of a request, which another library may have written. The
   * root context if there is none.
   */
  Context extract(Map<String, String> headers) {
    return propagator.extract(Context.root(), headers, GETTER);
  }

  /**
   * Returns the context in the texts; null if there is none. The context of a message that is older
   * than {@code maxAge} has no span, but a link to the sender's span.
   */
  @Nullable
  Context read(Map<String, String> texts, Duration maxAge) {
    var context = propagator.extract(Context.root(), texts, GETTER);
    if (context == Context.root()) return null;
    var sender = Span.fromContext(context).getSpanContext();
    if (!sender.isValid()) return context; // only baggage
    return isOlder(texts.get(SENT), maxAge)
        ? context.with(Span.getInvalid()).with(Arrival.KEY, new Arrival(true, Optional.of(sender)))
        : context.with(Arrival.KEY, new Arrival(true, Optional.empty()));
  }

  /** Returns false for a text of another library, which has no time of sending. */
  private static boolean isOlder(@Nullable String sent, Duration maxAge) {
    if (maxAge.isZero()) return true;
    try {
      if (sent == null) return false;
      long ageMillis = Math.subtractExact(System.currentTimeMillis(), Long.parseLong(sent));
      return Duration.ofMillis(ageMillis).compareTo(maxAge) > 0;
    } catch (NumberFormatException | ArithmeticException malformed) {
      return false;
    }
  }
}
