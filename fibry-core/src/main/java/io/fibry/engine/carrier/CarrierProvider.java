package io.fibry.engine.carrier;

/** Makes carriers. The engine finds a provider with {@link java.util.ServiceLoader}. */
public interface CarrierProvider {
  /**
   * Returns why this JVM permits no carriers, and the remedy, as the end of a sentence. Returns
   * null if carriers can be started.
   */
  String obstacle();

  /**
   * Starts carriers.
   *
   * @param count the number of carriers, or 0 for one per processor
   */
  FiberCarriers start(int count);
}
