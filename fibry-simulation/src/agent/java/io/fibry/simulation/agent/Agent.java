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

/**
 * The Java agent of a simulation. It opens internal packages of the JDK to the tap, which is the
 * package {@code io.fibry.simulation.tap}. Calls that use clocks, random numbers, threads and
 * sockets are redirected to the tap.
 */
public final class Agent {
  /**
   * The system property with the outcome of the start: {@link #READY}, or the reason why nothing
   * can be simulated. The property is unset before the start.
   */
  static final String STATE_PROPERTY = "fibry.simulation.agent";
  static final String READY = "ready";

  private static final String TAP_PACKAGE = "io.fibry.simulation.tap.";
  /** Packages of java.base that are opened to the tap. */
  private static final List<String> OPENED_PACKAGES = List.of("java.lang", "java.net", "java.util",
      "java.util.concurrent", "jdk.internal.misc", "jdk.internal.vm", "sun.net");
  /** Classes of the tap; they are initialized in this order before any call is redirected. */
  private static final List<String> TAP_CLASSES =
      List.of("MachineLookup", "ClockTap", "RandomTap", "ThreadTap", "PoolTap", "DelayTap", "SocketTap");

  /**
   * Packages of the core that a simulation uses, and that the core's module does not export to the
   * unnamed module, to which the agent and the simulation belong if they are on the class path.
   */
  private static final List<String> CORE_PACKAGES =
      List.of("io.fibry.engine.scope", "io.fibry.engine.world", "io.fibry.text");

  private Agent() {}

  /** Called by the JVM before the program starts, if the JVM was started with -javaagent. */
  public static void premain(String arguments, Instrumentation jvm) {
    start(jvm);
  }

  /** Called by the JVM when {@link AgentAttacher} attaches the agent to a running JVM. */
  public static void agentmain(String arguments, Instrumentation jvm) {
    start(jvm);
  }

  /**
   * Starts the agent once. A failure does not end the program: its text is stored in
   * {@link #STATE_PROPERTY}, and {@link AgentAttacher#ensure} throws it in each simulation.
   */
  private static synchronized void start(Instrumentation jvm) {
    if (READY.equals(System.getProperty(STATE_PROPERTY))) return;
    try {
      var redirects = RedirectTable.of(RedirectTable.ALL_ROWS, Runtime.version().feature());
      openJdk(jvm);
      redirectCalls(jvm, redirects);
      ModuleLayer.boot().findModule("io.fibry").ifPresent(core -> connectModules(jvm, core));
      System.setProperty(STATE_PROPERTY, READY);
    } catch (Throwable failure) {
      System.setProperty(STATE_PROPERTY, textOf(failure));
    }
  }

  private static void openJdk(Instrumentation jvm) throws IOException, ClassNotFoundException {
    refuseCopies(jvm);
    jvm.appendToBootstrapClassLoaderSearch(new JarFile(bootJar()));
    var boot = Class.forName(TAP_PACKAGE + "JdkInternals", false, null).getModule();
    var packages = OPENED_PACKAGES.stream().collect(Collectors.toMap(name -> name, name -> Set.of(boot)));
    jvm.redefineModule(Object.class.getModule(), Set.of(), Map.of(), packages, Set.of(), Map.of());
    for (var name : TAP_CLASSES) Class.forName(TAP_PACKAGE + name, true, null);
    Class.forName(TAP_PACKAGE + "DelayTap$Of" + (Runtime.version().feature() < 25 ? "21" : "25"), true, null);
  }

  /**
   * Throws if a class of the tap was loaded from the class path. The folder of this module's
   * classes has a copy of the classes in boot.jar. The JVM treats such a copy as another class, so
   * no thread would be simulated.
   */
  private static void refuseCopies(Instrumentation jvm) {
    for (Class<?> type : jvm.getAllLoadedClasses()) {
      if (type.getName().startsWith(TAP_PACKAGE) && type.getClassLoader() != null)
        throw new UnsupportedOperationException(
            "cannot simulate: " + type + " was loaded before the agent started; start the JVM with -javaagent");
    }
  }

  /**
   * Copies boot.jar to a temporary file, because the boot class loader reads jars only from files.
   */
  private static String bootJar() throws IOException {
    try (var jarStream = Agent.class.getResourceAsStream("/io/fibry/simulation/boot.jar")) {
      if (jarStream == null)
        throw new IOException("boot.jar is missing from fibry-simulation; Maven makes it in process-classes");
      var file = Files.createTempFile("fibry-simulation-boot", ".jar");
      file.toFile().deleteOnExit();
      Files.copy(jarStream, file, StandardCopyOption.REPLACE_EXISTING);
      return file.toString();
    }
  }

  private static void redirectCalls(Instrumentation jvm, RedirectTable redirects) throws UnmodifiableClassException {
    var transformer = new RedirectTransformer(redirects);
    jvm.addTransformer(transformer, true);
    var loadedClasses = Arrays.stream(jvm.getAllLoadedClasses())
        .filter(type -> jvm.isModifiableClass(type) && !type.isArray() && !type.isHidden())
        .filter(type -> RedirectTransformer.isChanged(type.getClassLoader(), type.getName().replace('.', '/')));
    jvm.retransformClasses(loadedClasses.toArray(Class<?>[]::new));
  }

  /**
   * Called if the core is a module. Exports the packages of {@link #CORE_PACKAGES} to this module
   * alone. Lets all modules that read the core read this module, because calls in their code are
   * redirected to classes of this module.
   */
  private static void connectModules(Instrumentation jvm, Module core) {
    var thisModule = Set.of(Agent.class.getModule());
    var exportedPackages = CORE_PACKAGES.stream().collect(Collectors.toMap(name -> name, name -> thisModule));
    jvm.redefineModule(core, Set.of(), exportedPackages, Map.of(), Set.of(), Map.of());
    for (var module : ModuleLayer.boot().modules())
      if (module.canRead(core)) jvm.redefineModule(module, thisModule, Map.of(), Map.of(), Set.of(), Map.of());
  }

  /** Returns the text of a failure; if a static initializer failed, the text of its cause. */
  private static String textOf(Throwable failure) {
    var cause = failure instanceof ExceptionInInitializerError && failure.getCause() != null
        ? failure.getCause()
        : failure;
    return cause instanceof UnsupportedOperationException ? cause.getMessage() : "cannot simulate: " + cause;
  }
}
