package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Request;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/** An actor promises an answer, handles other messages, and keeps the promise later. */
class DeferredReply {
  sealed interface Hotel {}
  record Wait(String guest) implements Hotel, Request<Wait, Integer> {}
  record Free(int room) implements Hotel {}

  public static void main(String[] args) {
    Queue<CompletableFuture<Integer>> waiting = new ArrayDeque<>(); // used only by the actor
    Actor<Hotel> hotel = ActorSystem.named("hotel").newActor((message, context) -> {
      switch (message) {
        case Wait wait -> {
          var room = new CompletableFuture<Integer>();
          waiting.add(room);
          context.replyWhen(wait, room);
        }
        case Free free -> waiting.remove().complete(free.room());
      }
    });

    var ada = hotel.sendMessageReturn(new Wait("Ada"));
    var bob = hotel.sendMessageReturn(new Wait("Bob"));
    hotel.sendMessage(new Free(12));
    hotel.sendMessage(new Free(7));

    System.out.println("Ada sleeps in " + ada.join() + ", Bob in " + bob.join());
  }
}
