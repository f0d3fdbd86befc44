package io.fibry.engine.message;

import io.fibry.engine.jvm.Texts;

/** An actor, as texts about it and its messages see it. */
public interface Named {
  String name();

  /** Whether logs and errors may say what its messages do. */
  boolean showsMessages();

  /** How an exception names a request. */
  default String asked(Object request) {
    return Texts.asked(request, showsMessages());
  }

  default String shown(Object message) {
    return Texts.shown(message, showsMessages());
  }
}
