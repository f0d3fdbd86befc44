package io.fibry.engine.message;

import io.fibry.Actor;
import io.fibry.ContextPropagator;
import io.fibry.TextContextPropagator;
import io.fibry.engine.jvm.EngineLog;
import io.fibry.engine.jvm.FailureLog;
import io.fibry.engine.jvm.MessageTexts;
import io.fibry.text.Lines;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes the captures of context propagators as one text for another process, and reads such texts.
 * The text has names and values, like the query of a URL. The text is printable ASCII, so it is
 * valid in any header.
 */
public final class BaggageText {
  private static final int MAX_LENGTH = 2_048; // characters
  private static final FailureLog TOO_LONG = new FailureLog();

  private BaggageText() {}

  /**
   * Captures the context of this thread, and returns its text, which is empty if there is no
   * context.
   */
  public static String of(List<ContextPropagator<?>> propagators, Actor<?> receiver, Object message) {
    String text = "";
    for (var propagator : propagators) {
      if (!(propagator instanceof TextContextPropagator<?> textPropagator)) continue;
      String addition = write(textPropagator, receiver, message);
      String extended = text.isEmpty() || addition.isEmpty() ? text + addition : text + "&" + addition;
      if (extended.length() <= MAX_LENGTH) text = extended;
      else logTooLong(propagator, receiver, addition.length());
    }
    return text;
  }

  private static <C> String write(TextContextPropagator<C> propagator, Actor<?> receiver, Object message) {
    var text = new StringBuilder();
    try {
      C captured = propagator.capture(receiver, message);
      if (captured != null) for (var pair : propagator.write(captured).entrySet()) {
        if (!text.isEmpty()) text.append('&');
        text.append(encode(pair.getKey())).append('=').append(encode(pair.getValue()));
      }
      return text.toString();
    } catch (Throwable failure) {
      Baggage.logFailure("write", propagator, receiver, failure);
      return "";
    }
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** Logs at most one line a second for each class of context propagators. */
  private static void logTooLong(ContextPropagator<?> propagator, Actor<?> receiver, int length) {
    int omitted = TOO_LONG.admit(propagator.getClass(), "", System.nanoTime());
    if (omitted == FailureLog.OMITTED) return;
    EngineLog.log().warn(
        "the text of context propagator {} for a message to actor '{}' is left out: it has {} bytes, and all context "
            + "propagators together may write {}{}",
        MessageTexts.describe(propagator), receiver.name(), length, MAX_LENGTH,
        omitted == 0 ? "" : "; " + Lines.count(omitted, "more message") + " since the last such line");
  }

  /**
   * Returns one capture for each propagator; a capture is null if the propagator has nothing to
   * restore. All captures are null if the text is empty, too long, or not written by this class.
   */
  static Object[] parse(List<ContextPropagator<?>> propagators, Actor<?> receiver, String text) {
    var captured = new Object[propagators.size()];
    var texts = texts(text);
    if (texts.isEmpty()) return captured;
    for (int i = 0; i < captured.length; i++)
      if (propagators.get(i) instanceof TextContextPropagator<?> textPropagator)
        captured[i] = read(textPropagator, receiver, texts);
    return captured;
  }

  private static Object read(TextContextPropagator<?> propagator, Actor<?> receiver, Map<String, String> texts) {
    try {
      return propagator.read(texts);
    } catch (Throwable failure) {
      Baggage.logFailure("read", propagator, receiver, failure);
      return null;
    }
  }

  private static Map<String, String> texts(String text) {
    if (text.isEmpty() || text.length() > MAX_LENGTH) return Map.of();
    var texts = new HashMap<String, String>();
    try {
      for (var pair : text.split("&")) {
        int separator = pair.indexOf('=');
        if (separator >= 0)
          texts.putIfAbsent(decode(pair.substring(0, separator)), decode(pair.substring(separator + 1)));
      }
    } catch (IllegalArgumentException failure) { // the text was not written by this class
      return Map.of();
    }
    return Collections.unmodifiableMap(texts);
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
