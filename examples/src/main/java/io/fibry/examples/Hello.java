package io.fibry.examples;

import io.fibry.ActorSystem;

/** The smallest program: one actor, one message. */
class Hello {
  public static void main(String[] args) {
    try (var greeter = ActorSystem.anonymous().newActor((String name) -> System.out.println("Hello " + name))) {
      greeter.sendMessage("World");
    } // close() waits until all messages are handled
  }
}
