package io.fibry.engine.message;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.TextContextPropagator;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.engine.jvm.MessageTexts;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What carriers capture, as one text for another process: names and values as in the query of a
 * URL. The text is printable ASCII, so it fits into any header.
 */
public final class BaggageText {
  private static final int MAX_LENGTH = 2_048; // characters
  private static final FailureLog TOO_LONG = new FailureLog();

  private BaggageText() {}

  /** Captures on this thread. Empty: nothing. */
  public static String of(List<ContextPropagator<?>> propagators, Actor<?> to, Object message) {
    String text = "";
    for (var propagator : propagators) {
      if (!(propagator instanceof TextContextPropagator<?> one)) continue;
      String more = written(one, to, message);
      String both = text.isEmpty() || more.isEmpty() ? text + more : text + "&" + more;
      if (both.length() <= MAX_LENGTH) text = both;
      else logTooLong(propagator, to, more.length());
    }
    return text;
  }

  private static <C> String written(TextContextPropagator<C> propagator, Actor<?> to, Object message) {
    var text = new StringBuilder();
    try {
      C captured = propagator.capture(to, message);
      if (captured != null) for (var each : propagator.write(captured).entrySet()) {
        if (!text.isEmpty()) text.append('&');
        text.append(encoded(each.getKey())).append('=').append(encoded(each.getValue()));
      }
      return text.toString();
    } catch (Throwable failure) {
      Baggage.logFailure("write", propagator, to, failure);
      return "";
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** At most one line a second for each class of carriers. */
  private static void logTooLong(ContextPropagator<?> propagator, Actor<?> to, int length) {
    int omitted = TOO_LONG.admit(propagator.getClass(), "", System.nanoTime());
    if (omitted == FailureLog.OMITTED) return;
    EngineLog.LOG.warn(
        "what carrier {} writes for a message to actor '{}' is left out: it has {} bytes, and all carriers "
            + "together may write {}{}",
        MessageTexts.describe(propagator), to.name(), length, MAX_LENGTH,
        omitted == 0 ? "" : "; " + omitted + " more messages since the last such line");
  }

  /** One for each carrier; null: it is to set nothing. All null for a text of another program. */
  static Object[] parse(List<ContextPropagator<?>> propagators, Actor<?> to, String text) {
    var captured = new Object[propagators.size()];
    var texts = texts(text);
    if (texts.isEmpty()) return captured;
    for (int i = 0; i < captured.length; i++)
      if (propagators.get(i) instanceof TextContextPropagator<?> one) captured[i] = read(one, to, texts);
    return captured;
  }

  private static Object read(TextContextPropagator<?> propagator, Actor<?> to, Map<String, String> texts) {
    try {
      return propagator.read(texts);
    } catch (Throwable failure) {
      Baggage.logFailure("read", propagator, to, failure);
      return null;
    }
  }

  private static Map<String, String> texts(String text) {
    if (text.isEmpty() || text.length() > MAX_LENGTH) return Map.of();
    var texts = new HashMap<String, String>();
    try {
      for (var each : text.split("&")) {
        int end = each.indexOf('=');
        if (end >= 0) texts.putIfAbsent(decoded(each.substring(0, end)), decoded(each.substring(end + 1)));
      }
    } catch (IllegalArgumentException foreign) {
      return Map.of();
    }
    return Collections.unmodifiableMap(texts);
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
