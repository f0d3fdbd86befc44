package io.fibry.durable;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of this package, with the name of the public type that users know. */
final class DurableLog {
  static final Logger LOG = LoggerFactory.getLogger("io.fibry.durable.Durable");

  private DurableLog() {}
}
