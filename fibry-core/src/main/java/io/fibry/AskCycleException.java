package io.fibry;

import java.util.List;

/** The asked actor waits, itself or through others, for the asker. */
public final class AskCycleException extends RequestException {
  private static final long serialVersionUID = 1;

  private final transient List<String> ring;

  AskCycleException(String actor, Object request, List<String> ring) {
    super(actor, request, "this wait could never end: " + String.join(" waits for ", ring) + "; the message is " + shown(request) + ". Send without waiting, or answer with replyWhen", null, true);
    this.ring = List.copyOf(ring);
  }

  /**
   * Who waits for whom.
   *
   * @return names; the first is also the last
   */
  public List<String> ring() {
    return ring;
  }
}
