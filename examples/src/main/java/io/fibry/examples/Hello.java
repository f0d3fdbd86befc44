package io.fibry.examples;

import io.fibry.ActorSystem;

/** The smallest program: an actor, a message. */
class Hello {
  public static void main(String[] args) {
    try (var greeter = ActorSystem.anonymous().newActor((String name) -> System.out.println("Hello " + name))) {
      greeter.sendMessage("World");
    } // closing handles what waits, then ends the actor
  }
}
