package io.fibry.durable;

class EventViewsInFolderTest extends EventViewsContract {
  EventViewsInFolderTest() {
    super(FolderStores::new);
  }
}
