package io.fibry;

import java.util.List;
import java.util.Objects;

/**
 * Thrown to a caller that would wait for an actor which itself waits for the caller, directly or
 * through other actors. The text names each actor of this cycle, and says for which actor it waits.
 */
public final class AskCycleException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient List<String> cycle;

  /**
   * Creates an exception; for tests that replace an actor by a fake.
   *
   * @param text describes the failure
   * @param actor the name of the actor that the caller would wait for
   * @param request the message
   * @param cycle the names of the waiting actors; the first name is also the last
   */
  public AskCycleException(String text, String actor, Object request, List<String> cycle) {
    super(text, actor, request, null, true, RequestOutcome.UNKNOWN);
    this.cycle = List.copyOf(Objects.requireNonNull(cycle, "cycle"));
  }

  /**
   * {@return the cycle of waiting actors: names, beginning and ending with the actor that got this
   * exception}
   */
  public List<String> cycle() {
    return cycle;
  }
}
