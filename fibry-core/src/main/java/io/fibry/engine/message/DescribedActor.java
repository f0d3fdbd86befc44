package io.fibry.engine.message;

import io.fibry.engine.jvm.MessageTexts;

/** An actor, as texts about it and its messages see it. */
public interface DescribedActor {
  String name();

  /** Whether logs and errors may say what its messages do. */
  boolean mayLogContents();

  /** How an exception names a request. */
  default String describeRequest(Object request) {
    return MessageTexts.describeRequest(request, mayLogContents());
  }

  default String describe(Object message) {
    return MessageTexts.describe(message, mayLogContents());
  }
}
