package io.fibry.testing;

import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;

/**
 * Creates actors that reply with the message itself. If the message is a throwable, the handler
 * throws it. If the message is a {@link Gate}, the handler first waits at it.
 */
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
