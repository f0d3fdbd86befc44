package io.fibry.durable.storage;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of durable actors, with the name of the public type that users know. */
public final class DurableLog {
  public static final Logger LOG = LoggerFactory.getLogger("io.fibry.durable.Durable");

  private DurableLog() {}
}
