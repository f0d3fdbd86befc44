package io.fibry.durable;

class EndedActorsInH2Test extends EndedActorsContract {
  EndedActorsInH2Test() {
    super(DatabaseStores.h2());
  }
}
