package io.fibry.engine.jvm;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public final class EngineLog {
  public static final Logger LOG = LoggerFactory.getLogger("io.fibry.ActorSystem");

  private EngineLog() {}
}
