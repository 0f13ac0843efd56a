// Search where pages are read from files: browsers start no Worker from file://, so its script runs in a hidden frame.
// In place of the one that Material's plugin "offline" would load from another server; it has the part of Worker that
// Material uses: messages, one at a time.
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement('iframe')
      this.frame.hidden = true
      this.frame.title = 'search'
      this.frame.setAttribute('aria-hidden', 'true')
      this.ready = new Promise((resolve, reject) => {
        this.frame.onload = () => {
          const inside = this.frame.contentWindow
          inside.postMessage = data => this.dispatchEvent(new MessageEvent('message', { data }))
          const script = inside.document.createElement('script')
          script.src = url
          script.onload = resolve
          script.onerror = reject
          inside.document.head.append(script)
        }
      })
      this.frame.srcdoc = '<!doctype html><title>search</title>'
      document.documentElement.append(this.frame)
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent('message', { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
