package io.fibry;

import java.util.List;

/**
 * Who was to be waited for waits, itself or through others, for the waiter. The text names each of
 * them, and what it waits for.
 */
public final class AskCycleException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient List<String> ring;

  public AskCycleException(String actor, Object request, List<String> ring, String links) {
    super(actor, request, "this wait could never end: " + links + ". Send without waiting, or answer with replyWhen",
        null, true);
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
