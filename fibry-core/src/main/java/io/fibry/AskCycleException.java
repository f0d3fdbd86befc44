package io.fibry;

import java.util.List;
import java.util.Objects;

/**
 * The actor to wait for waits for the asker, directly or through others. The text names each, and
 * what it waits for.
 */
public final class AskCycleException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient List<String> ring;

  /**
   * For tests that fake an actor.
   *
   * @param text what happened
   * @param actor its name
   * @param request the message
   * @param ring names; the first is also the last
   */
  public AskCycleException(String text, String actor, Object request, List<String> ring) {
    super(text, actor, request, null, true, Outcome.UNKNOWN);
    this.ring = List.copyOf(Objects.requireNonNull(ring, "ring"));
  }

  /**
   * {@return the cycle of waiting actors: names, beginning and ending with the actor that got this
   * exception}
   */
  public List<String> cycle() {
    return ring;
  }
}
