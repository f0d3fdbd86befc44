package io.fibry.block;

/** Failures thrown again as they are. */
public final class Rethrown {
  private Rethrown() {}

  /** Throws a failure, declared or not: {@code throw Rethrown.<RuntimeException>as(failure)}. */
  @SuppressWarnings("unchecked") // erased, so nothing is cast
  public static <E extends Throwable> E as(Throwable failure) throws E {
    throw (E) failure;
  }
}
