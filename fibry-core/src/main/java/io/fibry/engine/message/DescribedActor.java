package io.fibry.engine.message;

import io.fibry.engine.jvm.MessageTexts;

/** An actor, as texts about it and its messages see it. */
public interface DescribedActor {
  String name();

  /** Whether logs and errors may say what its messages do. */
  boolean showsMessages();

  /** How an exception names a request. */
  default String asked(Object request) {
    return MessageTexts.asked(request, showsMessages());
  }

  default String shown(Object message) {
    return MessageTexts.shown(message, showsMessages());
  }
}
