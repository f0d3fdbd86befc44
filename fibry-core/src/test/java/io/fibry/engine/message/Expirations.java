package io.fibry.engine.message;

/** What tests see of deadlines that came before the answer. */
public final class Expirations {
  private Expirations() {}

  /** Where the handler was then. */
  public static Object stack(Deadline deadline) {
    return deadline.diagnosis.stack();
  }
}
