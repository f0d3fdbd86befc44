package io.fibry;

import java.util.List;

/**
 * Who was to be waited for waits, itself or through others, for the waiter. The text names each of
 * them, and what it waits for.
 */
public final class AskCycleException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient List<String> ring;

  /**
   * Users make one only to fake an actor, in a test say.
   *
   * @param text what happened
   * @param actor the name of the actor that was asked
   * @param request what it was asked
   * @param ring names; the first is also the last
   */
  public AskCycleException(String text, String actor, Object request, List<String> ring) {
    super(text, actor, request, null, true);
    this.ring = List.copyOf(ring);
  }

  /**
   * Who waits for whom, beginning with the one that this was thrown to.
   *
   * @return names; the first is also the last
   */
  public List<String> ring() {
    return ring;
  }
}
