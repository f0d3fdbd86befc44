package io.fibry.engine.jvm;

import io.fibry.text.SafeLogger;
import org.slf4j.Logger;

/**
 * The log of the engine. The first entry initializes SLF4J: its start takes more processor time
 * than a third of the start of the engine, and most short programs log nothing.
 */
public final class EngineLog {
  private static volatile Logger logger; // null until the first entry; racing threads get equal loggers

  private EngineLog() {}

  /**
   * Returns the logger.
   *
   * @throws StackOverflowError if the stack has too little space to initialize SLF4J; a later call
   * tries again
   */
  public static Logger log() {
    var known = logger;
    if (known != null) return known;
    StackProbe.probeForInitializers(); // SLF4J would stay unusable if a stack overflow ended its initializer
    return logger = SafeLogger.of("io.fibry.ActorSystem");
  }
}
