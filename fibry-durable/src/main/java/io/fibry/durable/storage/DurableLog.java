package io.fibry.durable.storage;

import io.fibry.text.SafeLogger;
import org.slf4j.Logger;

/** The logger of durable actors, with the name of the public type that users know. */
public final class DurableLog {
  public static final Logger LOG = SafeLogger.of("io.fibry.durable.Durable");

  private DurableLog() {}
}
