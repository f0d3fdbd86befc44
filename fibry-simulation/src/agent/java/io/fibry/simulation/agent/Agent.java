package io.fibry.simulation.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Collectors;

/** Opens what a simulation needs of the JDK, and redirects clocks, chance, threads and sockets. */
public final class Agent {
  /** The system property that says how it went: {@link #READY}, or why nothing can be simulated. */
  static final String STATE = "fibry.simulation.agent";
  static final String READY = "ready";

  private static final String TAP = "io.fibry.simulation.tap.";
  /** Packages of java.base that the tap uses. */
  private static final List<String> PACKAGES = List.of("java.lang", "java.net", "java.util", "java.util.concurrent",
      "jdk.internal.misc", "jdk.internal.vm", "sun.net");
  /** Classes of the tap, which are initialised in this order before anything is redirected. */
  private static final List<String> TAPS =
      List.of("MachineLookup", "ClockTap", "RandomTap", "ThreadTap", "PoolTap", "DelayTap", "SocketTap");

  /** Packages of the core that a simulation uses, and that its module hides from all others. */
  private static final List<String> SEAM = List.of("io.fibry.engine.scope", "io.fibry.engine.world");

  private Agent() {}

  /** With -javaagent. */
  public static void premain(String arguments, Instrumentation jvm) {
    start(jvm);
  }

  /** Attached to a JVM that runs. */
  public static void agentmain(String arguments, Instrumentation jvm) {
    start(jvm);
  }

  /**
   * A failure does not end the program: {@link AgentAttacher#ensure} throws it in the programs that
   * simulate.
   */
  private static synchronized void start(Instrumentation jvm) {
    if (READY.equals(System.getProperty(STATE))) return;
    try {
      var redirects = RedirectTable.of(RedirectTable.TABLE, Runtime.version().feature());
      open(jvm);
      redirect(jvm, redirects);
      ModuleLayer.boot().findModule("io.fibry").ifPresent(core -> connect(jvm, core));
      System.setProperty(STATE, READY);
    } catch (Throwable failure) {
      System.setProperty(STATE, text(failure));
    }
  }

  private static void open(Instrumentation jvm) throws IOException, ClassNotFoundException {
    refuseCopies(jvm);
    jvm.appendToBootstrapClassLoaderSearch(new JarFile(bootJar()));
    var boot = Class.forName(TAP + "JdkInternals", false, null).getModule();
    var packages = PACKAGES.stream().collect(Collectors.toMap(name -> name, name -> Set.of(boot)));
    jvm.redefineModule(Object.class.getModule(), Set.of(), Map.of(), packages, Set.of(), Map.of());
    for (var name : TAPS) Class.forName(TAP + name, true, null);
    Class.forName(TAP + "DelayTap$Of" + (Runtime.version().feature() < 25 ? "21" : "25"), true, null);
  }

  /**
   * A folder of classes has the tap's too, beside boot.jar. One that was loaded from there is
   * another class to the JVM: no thread would be simulated.
   */
  private static void refuseCopies(Instrumentation jvm) {
    for (Class<?> type : jvm.getAllLoadedClasses()) {
      if (type.getName().startsWith(TAP) && type.getClassLoader() != null) throw new UnsupportedOperationException(
          "cannot simulate: " + type + " was loaded before the agent was there; start the JVM with -javaagent");
    }
  }

  /** The boot class loader reads jars only from files. */
  private static String bootJar() throws IOException {
    try (var packed = Agent.class.getResourceAsStream("/io/fibry/simulation/boot.jar")) {
      if (packed == null)
        throw new IOException("boot.jar is missing from fibry-simulation; Maven makes it in process-classes");
      var file = Files.createTempFile("fibry-simulation-boot", ".jar");
      file.toFile().deleteOnExit();
      Files.copy(packed, file, StandardCopyOption.REPLACE_EXISTING);
      return file.toString();
    }
  }

  private static void redirect(Instrumentation jvm, RedirectTable redirects) throws UnmodifiableClassException {
    var transformer = new RedirectTransformer(redirects);
    jvm.addTransformer(transformer, true);
    var loaded = Arrays.stream(jvm.getAllLoadedClasses())
        .filter(type -> jvm.isModifiableClass(type) && !type.isArray() && !type.isHidden())
        .filter(type -> RedirectTransformer.isChanged(type.getClassLoader(), type.getName().replace('.', '/')));
    jvm.retransformClasses(loaded.toArray(Class<?>[]::new));
  }

  /**
   * Where the core is a module, it shows its seam to us alone. The modules that use it may call us,
   * since calls in their code are redirected to our classes.
   */
  private static void connect(Instrumentation jvm, Module core) {
    var us = Set.of(Agent.class.getModule());
    var seam = SEAM.stream().collect(Collectors.toMap(name -> name, name -> us));
    jvm.redefineModule(core, Set.of(), seam, Map.of(), Set.of(), Map.of());
    for (var module : ModuleLayer.boot().modules())
      if (module.canRead(core)) jvm.redefineModule(module, us, Map.of(), Map.of(), Set.of(), Map.of());
  }

  /** A static initialiser that failed says why in its cause. */
  private static String text(Throwable failure) {
    var cause = failure instanceof ExceptionInInitializerError && failure.getCause() != null
        ? failure.getCause()
        : failure;
    return cause instanceof UnsupportedOperationException ? cause.getMessage() : "cannot simulate: " + cause;
  }
}
