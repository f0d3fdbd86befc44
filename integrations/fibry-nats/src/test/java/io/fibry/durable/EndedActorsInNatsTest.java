package io.fibry.durable;

class EndedActorsInNatsTest extends EndedActorsContract {
  EndedActorsInNatsTest() {
    super(NatsStores.maker());
  }
}
