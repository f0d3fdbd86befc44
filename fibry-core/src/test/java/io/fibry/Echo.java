package io.fibry;

/** A handler that replies with the message itself; throws exceptions, waits at gates. */
public final class Echo {
  private Echo() {}

  public static ActorWithReturn<Object, Object> actor(ActorBuilder<Object> builder) {
    return builder.newActorWithReturn((Object m) -> {
      if (m instanceof Gate gate) gate.pass();
      if (m instanceof Exception failure) throw failure;
      if (m instanceof Error failure) throw failure;
      return m;
    });
  }
}
