package io.fibry.engine.jvm;

import io.fibry.engine.carrier.CarrierProvider;
import io.fibry.engine.carrier.FiberCarriers;
import io.fibry.text.Lines;
import java.util.ServiceLoader;

/**
 * Finds the carriers of the optional module {@code fibry-carriers}. The property
 * {@code fibry.carriers} is {@code off}, {@code required}, or the number of carriers. Without this
 * property, carriers are used if the module is present and the JVM permits carriers.
 */
final class OptionalCarriers {
  private static final String PROPERTY = "fibry.carriers";
  private static final String PROVIDER = "io.fibry.carriers.OwnCarriers"; // the only class that implements the service
  private static final int MAX_COUNT = 1_024;
  private static final int INVALID = -1;

  private static final FiberCarriers CARRIERS; // null if the JDK's scheduler runs the fibers
  private static final String ERROR; // why the engine must not start, or null
  private static volatile String notice; // is logged once; null if there is no notice, or it was logged

  static {
    FiberCarriers carriers = null;
    String error = null;
    String setting = System.getProperty(PROPERTY, "");
    int count = countIn(setting);
    if (count == INVALID)
      error = PROPERTY + "=" + setting + " is not valid; use off, required, or a number of carriers from 1 to "
          + MAX_COUNT;
    else if (!setting.equals("off")) {
      String obstacle = "it is on neither the class path nor the module path";
      boolean isPresent = true;
      try {
        var provider = provider();
        isPresent = provider != null;
        if (isPresent) obstacle = provider.obstacle();
        if (obstacle == null) carriers = provider.start(count);
      } catch (Throwable failure) { // the service failed, or memory is exhausted
        obstacle = "its start failed: " + Lines.text(failure);
      }
      String text = "fibry-carriers is not used, because " + obstacle;
      if (carriers == null && setting.equals("required")) error = PROPERTY + "=required, but " + text;
      else if (carriers == null && isPresent) notice = text;
    }
    CARRIERS = carriers;
    ERROR = error;
  }

  private OptionalCarriers() {}

  /** Returns the number in the property, or 0 if the provider decides it. */
  private static int countIn(String setting) {
    if (setting.isEmpty() || setting.equals("off") || setting.equals("required")) return 0;
    int count = setting.matches("\\d{1,4}") ? Integer.parseInt(setting) : 0;
    return count >= 1 && count <= MAX_COUNT ? count : INVALID;
  }

  /**
   * Returns the provider of the module, or null if the module is absent. Looks for a class of the
   * module first: a ServiceLoader that finds nothing takes ten times as long.
   */
  private static CarrierProvider provider() {
    var loader = CarrierProvider.class.getClassLoader();
    try {
      Class.forName(PROVIDER, false, loader);
    } catch (ClassNotFoundException absent) {
      return null;
    }
    return ServiceLoader.load(CarrierProvider.class, loader).findFirst().orElse(null);
  }

  /** Returns the carriers, or null if the JDK's scheduler runs the fibers. */
  static FiberCarriers find() {
    return CARRIERS;
  }

  /**
   * Logs once why the carriers of a present module are not used.
   *
   * @throws IllegalStateException if the property is invalid, or carriers are required and missing
   */
  static void check() {
    if (ERROR != null) throw new IllegalStateException(ERROR);
    String text = notice;
    if (text == null) return;
    notice = null;
    EngineLog.log().info(text);
  }
}
