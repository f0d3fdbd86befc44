package io.fibry.simulation.agent;

import java.lang.instrument.Instrumentation;

/** Opens what a simulation needs of the JDK, and redirects clocks, chance, threads and sockets. */
public final class Agent {
  private Agent() {}

  /** With -javaagent. */
  public static void premain(String arguments, Instrumentation jvm) {}

  /** Attached to a JVM that runs. */
  public static void agentmain(String arguments, Instrumentation jvm) {}
}
