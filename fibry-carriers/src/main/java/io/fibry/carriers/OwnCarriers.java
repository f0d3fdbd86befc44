package io.fibry.carriers;

import io.fibry.engine.carrier.CarrierProvider;
import io.fibry.engine.carrier.FiberCarriers;
import org.jspecify.annotations.Nullable;

/**
 * Makes the carriers of this module. The engine finds this class as a service, so a program does
 * not use it.
 */
public final class OwnCarriers implements CarrierProvider {
  /** Creates a provider; called by {@link java.util.ServiceLoader}. */
  public OwnCarriers() {}

  @Override
  public @Nullable String obstacle() {
    var module = OwnCarriers.class.getModule();
    if (!Object.class.getModule().isOpen("java.lang", module)) {
      String flag = "--add-opens java.base/java.lang=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
      return "java.lang is closed to it; start Java with " + flag
          + ", or write the line 'Add-Opens: java.base/java.lang' into the manifest of the executable jar";
    }
    return JvmAccess.isPossible() ? null : "this Java version makes no virtual threads for other schedulers";
  }

  @Override
  public FiberCarriers start(int count) {
    return CarrierPool.start(count > 0 ? count : Runtime.getRuntime().availableProcessors());
  }
}
